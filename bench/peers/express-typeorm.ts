import { createHash, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import express, { type NextFunction, type Request, type Response } from 'express'
import { LRUCache } from 'lru-cache'
import { DataSource, type EntityManager, type FindOptionsWhere, ILike, In } from 'typeorm'
import { z } from 'zod'
import { announced } from '../announced.ts'
import { type AccessToken, AccessTokens, Accounts, type Contact, Contacts } from './entities.ts'

/**
 * The peer: the contacts of the customer API as a careful team writes them with Express 5 and TypeORM, on the same tables
 * and their indexes. Tokens are looked up by their hash and kept for half a minute, queries and bodies are validated by
 * zod, a list is `findAndCount`, a write is a transaction. Lists ask for the visibility class, which leads to the index
 * that counts fastest; by the three columns behind it they would be slower. No entity loads a relation.
 */
class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const database = new DataSource({ type: 'postgres', entities: [Contacts, Accounts, AccessTokens], poolSize: 10 })
await database.initialize()
const contacts = database.getRepository(Contacts)
const tokens = database.getRepository(AccessTokens)

const knownTokens = new LRUCache<string, AccessToken>({ max: 10_000, ttl: 30_000 })

const tenantOf = async (request: Request, scope: string): Promise<string> => {
  const [, secret] = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  if (secret === undefined) throw new Refusal(401, 'A bearer token is missing.')
  const hash = createHash('sha256').update(secret).digest()
  const key = hash.toString('base64')
  let token = knownTokens.get(key)
  if (!token) {
    token = (await tokens.findOneBy({ secretHash: hash })) ?? undefined
    if (token) knownTokens.set(key, token)
  }
  if (!token || token.revokedAt || token.expiresAt.getTime() <= Date.now())
    throw new Refusal(401, 'The token is not valid.')
  if (!token.scopes.includes(scope)) throw new Refusal(403, `The scope ${scope} is missing.`)
  return token.tenantId
}

const flag = z
  .enum(['true', 'false'])
  .transform((text) => text === 'true')
  .default(false)
const ListQuery = z.strictObject({
  page: z.coerce.number().int().min(1).max(2_147_483_647).default(1),
  pageSize: z.coerce.number().int().min(1).max(200).default(50),
  accountId: z.string().max(64).optional(),
  search: z.string().trim().min(1).max(200).optional(),
  includeHidden: flag,
  includeSubsOnly: flag,
  includeDeleted: flag,
})

const text = (longest: number) => z.string().max(longest).nullable().exactOptional()
const ContactInput = z.strictObject({
  accountId: z.string().min(1).max(64),
  name: text(255),
  firstName: text(255),
  lastName: text(255),
  phone: text(50),
  phone2: text(50),
  extension: text(20),
  hideContact: z.boolean().nullable().exactOptional(),
  subsOnly: z.boolean().nullable().exactOptional(),
  doNotEmail: z.boolean().nullable().exactOptional(),
  email: text(254),
  title: text(255),
  notes: text(10_000),
})
const blank = {
  ownerId: null,
  name: null,
  firstName: null,
  lastName: null,
  phone: null,
  phone2: null,
  extension: null,
  hideContact: null,
  subsOnly: null,
  doNotEmail: null,
  email: null,
  title: null,
  notes: null,
  deletedAt: null,
}

/** The classes that a list shows: bits 1, 2 and 4 stand for hidden, subscription-only and deleted contacts. */
const classesOf = (query: z.infer<typeof ListQuery>): number[] => {
  const left = [query.includeHidden, query.includeSubsOnly, query.includeDeleted]
  return [0, 1, 2, 3, 4, 5, 6, 7].filter((bits) => left.every((included, bit) => included || (bits & (1 << bit)) === 0))
}

const searched = ['name', 'firstName', 'lastName', 'email', 'phone', 'phone2', 'title'] as const

const wheres = (tenantId: string, query: z.infer<typeof ListQuery>): FindOptionsWhere<Contact>[] => {
  const { accountId, search } = query
  const classes = classesOf(query)
  const visibility = classes.length === 1 ? (classes[0] ?? 0) : In(classes)
  const where = { tenantId, visibility, ...(accountId !== undefined && { accountId }) }
  // Every word in one of the columns is a condition of its own; a team would begin with one word.
  const like = search && ILike(`%${search.replaceAll(/[\\%_]/g, '\\$&')}%`)
  return like ? searched.map((column) => ({ ...where, [column]: like })) : [where]
}

const requireAccount = async (manager: EntityManager, tenantId: string, accountId: string): Promise<void> => {
  if (await manager.existsBy(Accounts, { tenantId, accountId })) return
  throw new Refusal(422, 'There is no such account.')
}

const app = express()
app.disable('x-powered-by')
app.use(express.json({ limit: '256kb' }))
const api = express.Router()
app.use('/customer-api/v1', api)

api.get('/contacts', async (request, response) => {
  const tenantId = await tenantOf(request, 'contacts:read')
  const query = ListQuery.parse(request.query)
  const { page, pageSize } = query
  const [items, total] = await contacts.findAndCount({
    where: wheres(tenantId, query),
    order: { position: 'ASC' },
    skip: (page - 1) * pageSize,
    take: pageSize,
  })
  response.json({ items, page, pageSize, total })
})

api.get('/contacts/:id', async (request, response) => {
  const tenantId = await tenantOf(request, 'contacts:read')
  const contact = await contacts.findOneBy({ tenantId, id: z.uuid().parse(request.params.id) })
  if (!contact) throw new Refusal(404, 'There is no such contact.')
  response.json(contact)
})

api.post('/contacts', async (request, response) => {
  const tenantId = await tenantOf(request, 'contacts:write')
  const input = ContactInput.parse(request.body)
  const now = new Date()
  const name = input.name ?? [input.firstName, input.lastName].filter(Boolean).join(' ')
  const contact = { ...blank, ...input, id: randomUUID(), name, createdAt: now, updatedAt: now }
  await database.transaction(async (manager) => {
    await requireAccount(manager, tenantId, input.accountId)
    await manager.insert(Contacts, { ...contact, tenantId })
  })
  response.status(201).location(`/customer-api/v1/contacts/${contact.id}`).json(contact)
})

api.patch('/contacts/:id', async (request, response) => {
  const tenantId = await tenantOf(request, 'contacts:write')
  const id = z.uuid().parse(request.params.id)
  const input = ContactInput.parse(request.body)
  const updated = await database.transaction(async (manager) => {
    const contact = await manager.findOne(Contacts, { where: { tenantId, id }, lock: { mode: 'pessimistic_write' } })
    if (!contact) throw new Refusal(404, 'There is no such contact.')
    await requireAccount(manager, tenantId, input.accountId)
    const written = { ...input, updatedAt: new Date() }
    await manager.update(Contacts, { tenantId, id }, written)
    return { ...contact, ...written }
  })
  response.json(updated)
})

app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
  const status = error instanceof Refusal ? error.status : error instanceof z.ZodError ? 400 : 500
  const detail = status === 500 ? 'Something failed.' : String(error)
  response.status(status).type('application/problem+json').send(JSON.stringify({ status, detail }))
})

announced(createServer(app))
