/** A request of the operator that cannot be met: one clear line, no stack. */
export class Refusal extends Error {}
