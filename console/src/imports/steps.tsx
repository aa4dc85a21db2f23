const steps = ['File', 'Columns', 'Check', 'Import'] as const

export type Step = (typeof steps)[number]

/** Where one is on the way from a file to its records. */
export const Steps = ({ at }: { at: Step }) => {
  const current = steps.indexOf(at)
  return (
    <nav aria-label="Steps of the import">
      <ol className="steps">
        {steps.map((step, index) => (
          <li key={step} aria-current={index === current ? 'step' : undefined} data-done={index < current}>
            {step}
          </li>
        ))}
      </ol>
    </nav>
  )
}
