import { Caller, type MastheadOptions } from './caller.ts'
import { Changes } from './changes.ts'
import { Resources } from './generated/resources.ts'

/** The customer API of a Masthead service, resource by resource: `await masthead.contacts.get(id)`. */
export class Masthead extends Resources {
  /** What was written and removed, for whoever keeps a copy. */
  readonly changes: Changes

  constructor(options: MastheadOptions) {
    const caller = new Caller(options)
    super(caller)
    this.changes = new Changes(caller)
  }
}
