import { openapi as document } from '@masthead/contract'
import { Command } from 'commander'
import { showJson } from './output.ts'

export const openapi = (): Command =>
  new Command('openapi')
    .description('print the OpenAPI 3.1 document of the customer API')
    .option('--json', 'the document is JSON in any case')
    .action(() => showJson(document()))
