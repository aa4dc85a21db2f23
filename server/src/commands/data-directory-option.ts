import { Option } from 'commander'

export const dataDirectoryOption = (): Option =>
  new Option(
    '--data-dir <folder>',
    'where the embedded PostgreSQL stores its data (default: MASTHEAD_DATA_DIR, else .masthead)',
  )
