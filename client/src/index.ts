export type {
  CallOptions,
  ComingRetry,
  ConditionalOptions,
  DownloadOptions,
  Hooks,
  KeyedOptions,
  MastheadOptions,
  ReceivedAnswer,
  SentRequest,
  TokenSource,
} from './caller.ts'
export type { ChangeBatch, Changes, FollowOptions, WalkOptions } from './changes.ts'
export { etagOf } from './entity-tags.ts'
export * from './errors.ts'
export * from './generated/contract.ts'
export type * from './generated/resources.ts'
export type { List, Page } from './list.ts'
export { Masthead } from './masthead.ts'
export * from './oauth.ts'
export * from './verify-webhook.ts'
