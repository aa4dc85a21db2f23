import { formatDay } from '../design/formats.ts'
import { Select } from '../design/select.tsx'

const day = 86_400_000

type ExpiryChoiceProps = {
  choices: readonly number[]
  days: number
  onChange: (days: number) => void
  error: string | undefined
}

/** How long a token lives, with the day on which it ends. */
export const ExpiryChoice = ({ choices, days, onChange, error }: ExpiryChoiceProps) => (
  <Select
    label="Ends after"
    help="The shorter, the less harm when it gets into wrong hands."
    error={error}
    value={String(days)}
    onChange={(value) => onChange(Number(value))}
    options={choices.map((one) => [String(one), `${one} days: ${formatDay(new Date(Date.now() + one * day))}`])}
  />
)
