import type { IncomingHttpHeaders } from 'node:http'
import type { Api, ManagementScope, NamedOperation, Operation, Scope } from '@masthead/contract'
import type { Database } from '../../database/database.ts'
import type { Principal } from '../../identity/principal.ts'
import { type Handler, handlerOf } from '../../operation-call.ts'
import { isCurrent, readTags } from '../responses/conditional.ts'
import { openToAllOrigins } from '../responses/cross-origin.ts'
import { chooseEncoding, type Encoding } from '../responses/encoding.ts'
import { type AnswerCache, encoded, type Form, formOf, mayRemember } from '../responses/response-cache.ts'
import { answerHeaders } from '../responses/response-headers.ts'
import { readQuery } from './request-query.ts'

export type ReadRequest = {
  principal: Principal
  url: string
  params: Record<string, string>
  headers: IncomingHttpHeaders
}

/** In the form that the caller likes most, whether the caller has it already, and whether the database was not asked for it. */
export type ReadAnswer = { form: Form; isCurrent: boolean; isFromMemory: boolean }

/** What a GET of the contract does once token, rate and scope have passed, in the framework and before it. */
export type Read = {
  operation: string
  scope: Scope | ManagementScope
  /** The pattern of its route. */
  path: string
  /** Finds an address that nothing need be decoded in, and its parameters by their names. */
  plain: RegExp
  answer: (request: ReadRequest) => Promise<ReadAnswer>
}

type Found = Omit<ReadAnswer, 'isCurrent'>

type Surroundings = {
  api: Api
  database: Database
  handlers: ReadonlyMap<string, Handler>
  baseUrl: string
  issuer: string | null
  /** Null where the same address answers each caller differently. */
  answers: AnswerCache | null
  /** Pages of any origin may call it. */
  isOpenToAllOrigins: boolean
}

/** Those of an interface, by the names of their operations. */
export const openReads = (surroundings: Surroundings): ReadonlyMap<string, Read> =>
  new Map(
    surroundings.api.operations
      .filter(({ operation }) => operation.method === 'GET')
      .map((named) => [named.name, readOf(named, surroundings)]),
  )

/** As the router of the framework takes it. */
export const routeOf = ({ path }: Operation): string => path.replaceAll(/\{(\w+)\}/g, ':$1')

const readOf = (named: NamedOperation, surroundings: Surroundings): Read => {
  const { api, database, handlers, baseUrl, issuer, answers, isOpenToAllOrigins } = surroundings
  const { name, operation } = named
  const handler = handlerOf(handlers, name)
  const headersOf = answerHeaders(named, baseUrl + api.basePath)
  const about = {
    operation: name,
    scope: operation.scope as Scope | ManagementScope, // a test holds the operations to them
    path: api.basePath + routeOf(operation),
  }

  /** The bytes, and the whole with its headers for whom they are new. */
  const read = async ({ principal, url, params }: ReadRequest): Promise<{ body: Buffer; form: () => Form }> => {
    const query = readQuery(url, operation.query)
    const tenant = database.forTenant(principal.tenantId)
    const answer = await handler({ params, query, principal, issuer, tenant })
    const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body
    const open = isOpenToAllOrigins ? openToAllOrigins : {}
    return { body, form: () => formOf({ headers: { ...open, ...headersOf(answer, query, body) }, body }) }
  }

  const recall = async (among: AnswerCache, request: ReadRequest, encoding: Encoding): Promise<Found> => {
    const { principal, url, headers } = request
    const { tenantId } = principal
    let known = mayRemember(headers) ? among.find(tenantId, url) : null
    const isFromMemory = known !== null
    if (known) among.noteGiven()
    else {
      const revision = among.revisionOf(tenantId)
      const { body, form } = await read(request)
      known =
        among.confirm(tenantId, url, revision, body) ?? among.keep(tenantId, url, revision, { ...about, plain: form() })
    }
    return { form: among.knownForm(known, encoding) ?? (await among.formIn(known, encoding)), isFromMemory }
  }

  return {
    ...about,
    plain: new RegExp(`^${api.basePath}${operation.path.replaceAll(/\{(\w+)\}/g, '(?<$1>[\\w.~-]+)')}(?:\\?|$)`),
    answer: async (request) => {
      const ifNoneMatch = readTags('If-None-Match', request.headers['if-none-match'])
      const encoding = chooseEncoding(request.headers['accept-encoding'])
      const found = answers
        ? await recall(answers, request, encoding)
        : { form: await encoded((await read(request)).form(), encoding), isFromMemory: false }
      return { ...found, isCurrent: isCurrent(ifNoneMatch, found.form.headers.etag) }
    },
  }
}
