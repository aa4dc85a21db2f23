import { Caller, type MastheadOptions } from './caller.ts'
import { basePath, ManagementResources } from './generated/management.ts'

export type * from './generated/management.ts'

/** The interface of the console: `token` is the `management` of an `OAuthSession`. */
export class Management extends ManagementResources {
  constructor(options: MastheadOptions) {
    super(new Caller(options, basePath))
  }
}
