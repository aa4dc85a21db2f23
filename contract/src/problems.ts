import type { Static } from 'typebox'
import { closed, oneOf } from './fields.ts'
import { Type } from './schema.ts'

/** Every way in which the service says no: the code is stable, title, cause and cure are the same for every occurrence. */
export const problems = {
  malformed_request: {
    status: 400,
    title: 'The request cannot be read',
    cause:
      'The request line, the percent-encoding of the URL or the length of the body is wrong, or the request did not arrive as a whole within 30 seconds.',
    cure: 'Check the request line and the percent-encoding of the URL.',
  },
  malformed_body: {
    status: 400,
    title: 'The body is not JSON',
    cause: 'The body is empty, ends too early, holds something that JSON does not have, or is not encoded as UTF-8.',
    cure: 'Send a JSON object encoded as UTF-8; the detail says where reading stopped.',
  },
  invalid_parameter: {
    status: 400,
    title: 'A query parameter is not accepted',
    cause:
      'A parameter is not known here, is given twice, or has a value that it cannot have. Nothing is clamped or ignored.',
    cure: 'Correct or remove the parameters named in `errors`.',
  },
  invalid_cursor: {
    status: 400,
    title: 'The cursor is not valid here',
    cause: 'The cursor was changed, or was made for another list or other filters.',
    cure: 'Follow the `next` link as it was sent, with the same filters, or start again without a cursor.',
  },
  invalid_header: {
    status: 400,
    title: 'A request header is not accepted',
    cause:
      'An `If-Match` or `If-None-Match` holds no entity tags, or an `Idempotency-Key` is empty or longer than 255 characters.',
    cure: 'Correct or remove the header named in `errors`.',
  },
  missing_token: {
    status: 401,
    title: 'No access token was sent',
    cause: 'The call has no `Authorization` header.',
    cure: 'Send the header `Authorization: Bearer <ACCESS_TOKEN>`.',
  },
  invalid_token: {
    status: 401,
    title: 'The access token is not valid',
    cause:
      'The token is incomplete, unknown, expired or revoked; or the membership, the application or the consent behind it has ended.',
    cure: 'Use a token that has neither expired nor been revoked, and send all of it.',
  },
  insufficient_scope: {
    status: 403,
    title: 'The access token lacks a scope',
    cause: 'The token was made, or consented to, for other scopes than the operation needs.',
    cure: 'Use a token that carries the scope named in the detail.',
  },
  insufficient_role: {
    status: 403,
    title: 'The role of the user does not allow this',
    cause: 'The token carries the scope, but the role of its user in the tenant does not include it.',
    cure: 'Ask an administrator of the tenant for a role that includes the scope named in the detail.',
  },
  not_found: {
    status: 404,
    title: 'There is no such thing here',
    cause: 'Nothing is at the path, or the tenant of the token has no record with this identifier.',
    cure: 'Check the path and the identifier; records of other tenants are not visible.',
  },
  method_not_allowed: {
    status: 405,
    title: 'This path does not support the method',
    cause: 'The path exists, with other methods.',
    cure: 'Use one of the methods in the `Allow` header.',
  },
  contact_deleted: {
    status: 409,
    title: 'The contact is deleted',
    cause: 'The contact was deleted, and the update says nothing of its `deletedAt`.',
    cure: 'Restore the contact first, or send `"deletedAt": null` with the update.',
  },
  request_in_progress: {
    status: 409,
    title: 'The same request is still running',
    cause: 'A request with the same `Idempotency-Key` was sent before and has not been answered yet.',
    cure: 'Try again after the seconds given in `Retry-After`: it answers what the first one did.',
  },
  conflict: {
    status: 409,
    title: 'This cannot be done as things stand',
    cause: 'Something else stands in the way, such as the last admin of a tenant, or somebody who is a member already.',
    cure: 'The detail says what stands in the way.',
  },
  secret_shown_once: {
    status: 409,
    title: 'The secret was shown already',
    cause: 'The request was sent again under its `Idempotency-Key`, and its answer held a secret, which is never kept.',
    cure: 'What was made is there, but its secret is kept nowhere: revoke it, and make another.',
  },
  precondition_failed: {
    status: 412,
    title: 'The record has changed',
    cause: 'Somebody has changed the record since you got the version that `If-Match` names.',
    cure: 'Get the record again, decide whether your change still applies, and send its new `ETag` in `If-Match`.',
  },
  body_too_large: {
    status: 413,
    title: 'The body is too large',
    cause: 'The body has more than 256 KiB.',
    cure: 'Send at most 256 KiB.',
  },
  url_too_long: {
    status: 414,
    title: 'The URL is too long',
    cause: 'The path and the query together have more than 8 KiB.',
    cure: 'Send at most 8 KiB of URL.',
  },
  unsupported_media_type: {
    status: 415,
    title: 'The content type is not supported',
    cause:
      'The body comes with no content type, with one that the operation does not take, or in another encoding than UTF-8.',
    cure: 'Send `Content-Type: application/json`.',
  },
  invalid_body: {
    status: 422,
    title: 'The body is not accepted',
    cause:
      'The JSON can be read, but a property is missing, unknown, of another type or too long, names a record that does not exist, or nothing was to be sent at all.',
    cure: 'Correct the properties named in `errors`; nothing was changed.',
  },
  idempotency_key_reused: {
    status: 422,
    title: 'The idempotency key was used for another request',
    cause: 'The same key was sent within the last 24 hours with another method, path or body.',
    cure: 'Make a new `Idempotency-Key` for every request that is not a retry; nothing was changed.',
  },
  too_many_requests: {
    status: 429,
    title: 'Too many requests',
    cause:
      'The token or its tenant has used up the requests of the minute, the token has too many requests in flight, or too many unknown tokens came from the same address.',
    cure: 'Wait for the seconds given in `Retry-After`; `RateLimit` tells how many are left. Renew or remove tokens that are not known any longer.',
  },
  headers_too_large: {
    status: 431,
    title: 'The headers are too large',
    cause: 'The request line and the headers together have more than 32 KiB.',
    cure: 'Send fewer or shorter headers.',
  },
  internal_error: {
    status: 500,
    title: 'The service failed',
    cause: 'A fault of the service. What it was is in the log only.',
    cure: 'Try again later. If it stays, tell the operator the `requestId`: it finds the cause in the log.',
  },
  unavailable: {
    status: 503,
    title: 'The service is not available right now',
    cause:
      'The database cannot be reached, the server is being stopped, or too many calls of the tenant wait already. A write that was in flight may have been done.',
    cure: 'Try again after the seconds given in `Retry-After`.',
  },
} as const satisfies Record<string, { status: number; title: string; cause: string; cure: string }>

export type ProblemCode = keyof typeof problems

/** What only the management API returns; the customer API's document, which is frozen, does not list them. */
const ofManagement = ['conflict', 'secret_shown_once'] as const satisfies readonly ProblemCode[]
export type ManagementProblemCode = (typeof ofManagement)[number]
const codes = (Object.keys(problems) as ProblemCode[]) // the keys of `problems` are the codes
  .filter((code) => !ofManagement.some((other) => other === code))

/** A place in the request: a JSON pointer into the body, a query parameter or a header. */
const place = {
  code: Type.String({ description: 'What is wrong at this place, stable.' }),
  detail: Type.String({ description: 'What is wrong and what to do, in a sentence.' }),
}
export const ProblemPlace = Type.Union(
  [
    Type.Object({ pointer: Type.String({ description: 'JSON pointer into the body (RFC 6901).' }), ...place }, closed),
    Type.Object({ parameter: Type.String({ description: 'Name of the query parameter.' }), ...place }, closed),
    Type.Object({ header: Type.String({ description: 'Name of the header.' }), ...place }, closed),
  ],
  { description: 'A place in the request and what is wrong there.' },
)
export type ProblemPlace = Static<typeof ProblemPlace>

export const Problem = Type.Object(
  {
    type: Type.String({ format: 'uri', description: 'Address of a page that explains the problem.' }),
    title: Type.String({ description: 'The same for every occurrence of the code.' }),
    status: Type.Integer({ description: 'The HTTP status.' }),
    detail: Type.String({ description: 'What is wrong this time, and what to do.' }),
    code: oneOf(codes, 'Stable name of the problem.'),
    requestId: Type.String({ description: 'Finds this request in the log of the operator.' }),
    errors: Type.Optional(Type.Array(ProblemPlace, { description: 'The places that are wrong, when there are such.' })),
  },
  { ...closed, title: 'Problem', description: 'RFC 9457 problem details.' },
)
export type Problem = Static<typeof Problem>
