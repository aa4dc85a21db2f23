import { Caller, type MastheadOptions } from './caller.ts'
import { Resources } from './generated/resources.ts'

/** The customer API of a Masthead service, resource by resource: `await masthead.contacts.get(id)`. */
export class Masthead extends Resources {
  constructor(options: MastheadOptions) {
    super(new Caller(options))
  }
}
