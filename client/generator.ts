import {
  basePath,
  changes,
  changesRelation,
  exportJobs,
  listedNames,
  managementApi,
  managementResources,
  managementScopes,
  type Operation,
  operations,
  Problem,
  ProblemPlace,
  problems,
  type Resource,
  resourceNames,
  resources,
  scopePrefix,
  scopes,
  sentEvents,
  titleOf,
  webhookEvents,
  webhookEventTypes,
} from '@masthead/contract'

/** The files that the client takes from the contract, by their paths: it stands alone, without the contract. */
export const generatedFiles = (): Record<string, string> => ({
  './src/generated/contract.ts': contractFile(),
  './src/generated/resources.ts': resourcesFile(),
  './src/generated/management.ts': managementFile(),
})

/** What JSON Schema leaves of a schema of the contract. */
type Schema = {
  type?: string | string[]
  title?: string
  description?: string
  format?: string
  pattern?: string
  maxLength?: number
  maximum?: number
  const?: string
  enum?: (string | null)[]
  anyOf?: Schema[]
  items?: Schema
  required?: string[]
  properties?: Record<string, Schema>
}

const head = '/** GENERATED from the contract by `npm run generate`. */\n'

const contractFile = (): string =>
  [
    head,
    `export const basePath = '${basePath}'\n`,
    '/** Applications ask for scopes by this prefix. */',
    `export const scopePrefix = '${scopePrefix}'\n`,
    '/** RFC 8288: the link from the end of a walk to what has changed since its first page. */',
    `export const changesRelation = '${changesRelation}'\n`,
    '/** What a token may do. */',
    unionOf('Scope', scopes),
    '/** Why the service said no; stable. */',
    unionOf(
      'ProblemCode',
      mapValues(problems, ({ status, title, cure }) => `${status}: ${title}. ${cure}`),
    ),
    ...Object.values<Resource>(resources).flatMap(interfacesOf),
    ...exportTypes(),
    ...changesTypes(),
    ...webhookTypes(),
    interfaceOf(merged('ProblemPlace', plain(ProblemPlace))),
    interfaceOf(plain(Problem)),
  ].join('\n')

const interfacesOf = (resource: Resource): string[] => {
  const all = Object.values(resource.operations)
  const methodsWith = (field: 'body' | 'response', schema: unknown): string =>
    all
      .filter((operation) => operation[field] === schema)
      .map((operation) => `\`${resource.name}.${methodName(operation)}\``)
      .join(' and ')
  const bodies = new Set(all.flatMap(({ body }) => body ?? []))
  const responses = new Set(
    all.flatMap(({ query, response, download }) => (query || download || response === resource.record ? [] : response)),
  )
  return [
    { ...plain(resource.record), description: resource.description },
    ...all.flatMap(({ query }) => (query ? { ...plain(query), ...queryNote(resource) } : [])),
    ...[...bodies].map((body) => ({ ...plain(body), description: `Given to ${methodsWith('body', body)}.` })),
    ...[...responses].map((one) => ({ ...plain(one), description: `Answered by ${methodsWith('response', one)}.` })),
  ].map(interfaceOf)
}

/** What an export holds has names of its own, too. */
const exportTypes = (): string[] => {
  const within = Object.values<Operation>(exportJobs.operations)
    .flatMap(({ body, response }) => [body ?? [], response].flat())
    .flatMap((schema) => titledWithin(plain(schema)))
    .filter(({ title }) => title !== titleOf(exportJobs.record))
  return [...interfacesOf(exportJobs), ...new Map(within.map((schema) => [schema.title, interfaceOf(schema)])).values()]
}

/** A union by resource and by what happened, so that both tell which record there is. */
const changesTypes = (): string[] => {
  const { properties = {} } = plain(changes.record)
  const change = (name: string, types: Readonly<Record<string, string>>): string =>
    [
      `export interface ${name}<Name extends ListedName> {`,
      ...Object.entries(properties).flatMap(([field, schema]) => [
        `  /** ${noteOn(schema)} */`,
        `  ${field}: ${types[field] ?? typeOf(schema)}`,
      ]),
      '}',
      '',
    ].join('\n')
  return [
    '/** The records of every list that can be followed. */',
    'export interface ListedRecords {',
    ...listedNames.map((name) => `  ${name}: ${titleOf(resources[name].record)}`),
    '}',
    'export type ListedName = keyof ListedRecords\n',
    `/** ${changes.description} */`,
    'export type Change<Name extends ListedName = ListedName> = { [N in Name]: Written<N> | Removed<N> }[Name]\n',
    change('Written', { resource: 'Name', change: "'written'", record: 'ListedRecords[Name]' }),
    change('Removed', { resource: 'Name', externalId: 'null', change: "'removed'", record: 'null' }),
  ]
}

const webhookTypes = (): string[] => {
  const data = new Map(Object.values(sentEvents).map((event) => [titleOf(event.data), plain(event.data)]))
  return [
    `export type ResourceName = ${resourceNames.map((name) => `'${name}'`).join(' | ')}\n`,
    ...data.values().map((schema) => interfaceOf({ ...schema, description: 'The `data` of a webhook.' })),
    '/** The body of a webhook. */',
    'export type WebhookEvent =',
    ...Object.entries(sentEvents).flatMap(([type, event]) => [
      `  /** ${event.summary} */`,
      `  | { type: '${type}'; timestamp: string; data: ${titleOf(event.data)} }`,
    ]),
    '',
  ]
}

const queryNote = (resource: Resource) => ({
  title: queryName(resource),
  description: `Given to \`${camelCase(resource.name)}.list\`.`,
})
const queryName = (resource: Resource): string => `${titleOf(resource.record).replace(/Record$/, '')}Query`

/** A line that is too long has each member of its union on one of its own, as the formatter has it. */
const wrapped = (start: string, union: string): string =>
  start.length + 1 + union.length <= longestLine ? `${start} ${union}` : [start, ...union.split(' | ')].join('\n    | ')

/** One interface for a union, which is easier to read from: what only some of its members have is optional. */
const merged = (title: string, { anyOf = [], description = '' }: Schema): Schema => ({
  title,
  description,
  properties: Object.assign({}, ...anyOf.map(({ properties }) => properties)),
  required: (anyOf[0]?.required ?? []).filter((name) => anyOf.every(({ required }) => required?.includes(name))),
})

const unionOf = (name: string, members: Readonly<Record<string, string>>): string => {
  const lines = Object.entries(members).flatMap(([member, meaning]) => [`  /** ${meaning} */`, `  | '${member}'`])
  return [`export type ${name} =`, ...lines, ''].join('\n')
}

const interfaceOf = (schema: Schema): string => {
  const note = schema.description ? [`/** ${schema.description} */`] : []
  return [...note, `export interface ${schema.title} {`, ...fieldsOf(schema), '}', ''].join('\n')
}

const fieldsOf = ({ properties = {}, required = [] }: Schema): string[] =>
  Object.entries(properties).flatMap(([name, schema]) => [
    `  /** ${noteOn(schema)} */`,
    required.includes(name) ? `  ${name}: ${typeOf(schema)}` : wrapped(`  ${name}?:`, `${typeOf(schema)} | undefined`),
  ])

const kinds: Readonly<Record<string, string>> = {
  uuid: 'A UUID.',
  date: 'As `YYYY-MM-DD`.',
  'date-time': 'RFC 3339, UTC.',
  '^-?[0-9]+\\.[0-9]{2}$': 'A decimal with two digits.',
  '^-?[0-9]+$': 'An integer.',
}

/** The description, with what the type does not say. */
const noteOn = ({ description, format, pattern, maxLength, maximum }: Schema): string =>
  [
    description,
    kinds[format ?? ''] ?? kinds[pattern ?? ''],
    maxLength && `At most ${maxLength} characters.`,
    maximum && `At most ${maximum}.`,
  ]
    .filter((part) => part)
    .join(' ')

/** `string | null[]` would be an array of null. */
const inBrackets = (type: string): string => (isUnion(type) ? `(${type})` : type)

const isUnion = (type: string): boolean => /^[^{<(]* \| /.test(type)

/** Fails for what it does not know, so that no field is typed too widely. */
const typeOf = (schema: Schema): string => {
  if (schema.enum?.join() === plain(Problem.properties.code).enum?.join()) return 'ProblemCode'
  if (schema.enum?.join() === Object.keys(scopes).join()) return 'Scope'
  if (schema.enum?.join() === listedNames.join()) return 'ListedName'
  if (schema.enum?.join() === webhookEventTypes.join()) return 'WebhookEventType'
  if (schema.enum) return schema.enum.map((value) => (value === null ? 'null' : `'${value}'`)).join(' | ')
  if (schema.const !== undefined) return `'${schema.const}'`
  if (schema.anyOf) return schema.anyOf.map(typeOf).join(' | ')
  if (schema.items?.description === plain(ProblemPlace).description) return 'ProblemPlace[]'
  if (schema.items) return `${inBrackets(typeOf(schema.items))}[]`
  if (schema.title !== undefined) return schema.title
  if (schema.properties && Object.keys(schema.properties).join() === resourceNames.join()) return byResource(schema)
  if (schema.properties) {
    const fields = `{\n${fieldsOf(schema).join('\n').replaceAll(/^/gm, '  ')}\n  }`
    return schema.type?.includes('null') ? `${fields} | null` : fields
  }
  if (schema.type === undefined) return 'unknown'
  return [schema.type].flat().map(simpleType).join(' | ')
}
/** They are alike, and only those are there that something is said of. */
const byResource = ({ properties = {} }: Schema): string => {
  const [one = {}] = Object.values(properties)
  const fields = Object.entries(one.properties ?? {}).map(([name, schema]) => `${name}: ${typeOf(schema)}`)
  return `Partial<Record<ResourceName, { ${fields.join('; ')} }>>`
}
const simpleType = (type: string): string => {
  if (['string', 'number', 'boolean', 'null'].includes(type)) return type
  if (type === 'integer') return 'number'
  throw new Error(`the contract uses the type ${type}, which the client does not know yet`)
}

const resourcesFile = (): string => {
  const all: Resource[] = [...Object.values<Resource>(resources), exportJobs]
  const code = all.map((resource) => classOf(resource, className(resource.name), methodOf)).join('\n')
  const used = (names: string[]): string => names.filter((name) => new RegExp(`\\b${name}\\b`).test(code)).join(', ')
  const titles = operations.flatMap(({ operation: { body, response } }) => [body, response].flatMap((one) => one ?? []))
  const names = new Set([...titles.map(titleOf), ...all.map(queryName)])
  return [
    head,
    `import type { ${used(['Caller', 'CallOptions', 'ConditionalOptions', 'DownloadOptions', 'KeyedOptions'])} } from '../caller.ts'`,
    "import type { List } from '../list.ts'",
    `import type {\n${used([...names].sort()).replaceAll(/(\w+)(, )?/g, '  $1,\n')}} from './contract.ts'\n`,
    code,
    '/** Every resource of the API. */',
    ...classOfAll(
      'Resources',
      all.map(({ name, description }) => ({ name, description, className: className(name) })),
    ),
  ].join('\n')
}

const className = (name: string): string => `${name.charAt(0).toUpperCase()}${camelCase(name.slice(1))}`
const camelCase = (name: string): string =>
  name.replaceAll(/[- ](\w)/g, (_match, letter: string) => letter.toUpperCase())

/** The class of a resource, with a method for each operation. */
const classOf = (
  resource: Resource,
  name: string,
  method: (resource: Resource, operationName: string, operation: Operation) => string[],
): string =>
  [
    `/** ${resource.description} */`,
    `export class ${name} {`,
    '  readonly #caller: Caller',
    '',
    '  constructor(caller: Caller) {',
    '    this.#caller = caller',
    '  }',
    ...Object.entries(resource.operations).flatMap(([operationName, operation]) => [
      '',
      ...method(resource, operationName, operation),
    ]),
    '}',
    '',
  ].join('\n')

type Property = { name: string; className: string; description: string }

/** The class that holds those of all resources. */
const classOfAll = (name: string, properties: readonly Property[]): string[] => [
  `export class ${name} {`,
  ...properties.flatMap((one) => [`  /** ${one.description} */`, `  readonly ${one.name}: ${one.className}`]),
  '',
  '  constructor(caller: Caller) {',
  ...properties.map((one) => `    this.${one.name} = new ${one.className}(caller)`),
  '  }',
  '}',
  '',
]

/** The names in a path, and the path as the caller takes it. */
const placesOf = ({ path }: Operation): { parts: string[]; names: string[]; segments: string } => {
  const parts = path.slice(1).split('/')
  const nameIn = (part: string): string | undefined => /^\{(\w+)\}$/.exec(part)?.[1]
  return {
    parts,
    names: parts.flatMap((part) => nameIn(part) ?? []),
    segments: parts.map((part) => nameIn(part) ?? `'${part}'`).join(', '),
  }
}

const methodOf = (resource: Resource, operationName: string, operation: Operation): string[] => {
  const { method, query, body, response, summary, download } = operation
  const { names, segments } = placesOf(operation)
  const note = `  /** ${summary}. ${needsOf(operation)} */`
  if (query) {
    return [
      note,
      `  list(query: ${queryName(resource)} = {}, options: CallOptions = {}): List<${titleOf(resource.record)}> {`,
      `    return this.#caller.list('${operationName}', [${segments}], options, query)`,
      '  }',
    ]
  }
  if (download) {
    return [
      note,
      '  download(',
      ...names.map((name) => `    ${name}: string,`),
      '    options: DownloadOptions = {},',
      '  ): AsyncGenerator<Uint8Array, void, undefined> {',
      `    return this.#caller.download('${operationName}', [${segments}], options)`,
      '  }',
    ]
  }
  // `export` is a word of the language.
  const given = body ? [`${nameOfGiven(resource)}: ${titleOf(body)}`] : []
  const parameters = [...names.map((name) => `${name}: string`), ...given, `options: ${optionsOf(operation)} = {}`]
  const sent = [
    `'${operationName}'`,
    `'${method}'`,
    `[${segments}]`,
    'options',
    ...(body ? [nameOfGiven(resource)] : []),
  ]
  return [
    note,
    `  ${methodName(operation)}(${parameters.join(', ')}): Promise<${titleOf(response)}> {`,
    `    return this.#caller.call(${sent.join(', ')})`,
    '  }',
  ]
}

const nameOfGiven = ({ singular }: Resource): string => (singular === 'export' ? 'given' : singular)

const needsOf = ({ scope, description }: Operation): string =>
  typeof scope === 'string' ? `Needs \`${scope}\`.` : (description ?? `Needs one of ${scope.join(', ')}.`)

/** What a newcomer would guess. */
const methodName = ({ method, path }: Operation): string => {
  if (method === 'PATCH') return 'update'
  if (method === 'GET' && !path.includes('{')) return 'list'
  if (method !== 'POST') return method.toLowerCase()
  return path.includes('{') ? (path.split('/').at(-1) ?? '') : 'create'
}

const optionsOf = ({ method, conditional, response }: Operation): string =>
  [
    ...(conditional ? [`ConditionalOptions<${titleOf(response)}>`] : []),
    ...(method === 'POST' ? ['KeyedOptions'] : []),
  ].join(' & ') || 'CallOptions'

/** A record of the same name stands beside it. */
const callsOf = ({ name }: Resource): string => `${className(name)}Calls`

/** What a body holds that has a name of its own. */
const titledWithin = ({ properties = {}, items }: Schema): Schema[] =>
  [...Object.values(properties), ...(items ? [items] : [])].flatMap((schema) => [
    ...(schema.title === undefined ? [] : [schema]),
    ...titledWithin(schema),
  ])

/** The interface of the console, in a file of its own: nobody else may call it. */
const managementFile = (): string => {
  const all = Object.entries<Resource>(managementResources)
  const code = all.map(([, resource]) => classOf(resource, callsOf(resource), managementMethodOf)).join('\n')
  const schemas = new Map(
    managementApi.operations
      .flatMap(({ operation: { body, response }, resource }) => [resource.record, body ?? [], response].flat())
      .flatMap((schema) => [plain(schema), ...titledWithin(plain(schema))])
      .map((schema) => [titleOf(schema), schema]),
  )
  const used = ['CallOptions', 'KeyedOptions'].filter((name) => code.includes(name)).join(', ')
  const interfaces = [
    ...schemas.values().map(interfaceOf),
    ...managementApi.operations.flatMap(({ operation: { query }, resource }) =>
      query ? interfaceOf({ ...plain(query), ...queryNote(resource) }) : [],
    ),
  ].join('\n')
  const shared = ['ListedName', 'Scope'].filter((name) => new RegExp(`\\b${name}\\b`).test(interfaces)).join(', ')
  return [
    head,
    `import type { Caller, ${used} } from '../caller.ts'`,
    `import type { ${shared} } from './contract.ts'\n`,
    `export const basePath = '${managementApi.basePath}'`,
    `export const scopePrefix = '${managementApi.scopePrefix}'\n`,
    '/** What the console may do beside the customer API. */',
    unionOf(
      'ManagementScope',
      mapValues(managementScopes, ({ words }) => words),
    ),
    '/** What webhook endpoints can be told of. */',
    unionOf(
      'WebhookEventType',
      mapValues(webhookEvents, ({ summary }) => summary),
    ),
    interfaces,
    code,
    '/** Every resource of the interface. */',
    ...classOfAll(
      'ManagementResources',
      all.map(([name, resource]) => ({ name, description: resource.description, className: callsOf(resource) })),
    ),
  ].join('\n')
}

const managementMethodOf = (resource: Resource, operationName: string, operation: Operation): string[] => {
  const { method, query, body, response, scope, summary } = operation
  const { parts, names, segments } = placesOf(operation)
  const given = [
    ...names.map((name) => `${name}: string`),
    ...(body ? [`input: ${titleOf(body)}`] : []),
    ...(query ? [`query: ${queryName(resource)} = {}`] : []),
    `options: ${method === 'POST' ? 'KeyedOptions' : 'CallOptions'} = {}`,
  ]
  const sent = [`'${operationName}'`, `'${method}'`, `[${segments}]`, 'options']
  if (body || query) sent.push(body ? 'input' : 'undefined')
  if (query) sent.push('query')
  const last = parts.at(-1) ?? ''
  const verbs = {
    GET: 'items' in response.properties ? 'list' : 'get',
    POST: 'create',
    PATCH: 'update',
    DELETE: 'delete',
  }
  // What comes behind the thing itself names what is done to it or got of it.
  const verb = last === resource.name || last.startsWith('{') ? verbs[method] : camelCase(last)
  return [
    `  /** ${summary}. Needs \`${scope}\`. */`,
    ...listLines(`  ${verb}(`, given, `): Promise<${titleOf(response)}> {`),
    ...listLines('    return this.#caller.call(', sent, ')'),
    '  }',
  ]
}

const longestLine = 120

/** As the formatter of the house has it: in one line, or one below the other. */
const listLines = (start: string, list: readonly string[], end: string): string[] => {
  const line = `${start}${list.join(', ')}${end}`
  if (line.length <= longestLine) return [line]
  const indent = /^ */.exec(start)?.[0] ?? ''
  return [start, ...list.map((one) => `${indent}  ${one},`), `${indent}${end}`]
}

/** A schema of the contract is JSON Schema, with symbols of its library beside. */
const plain = (schema: unknown): Schema => JSON.parse(JSON.stringify(schema))

const mapValues = <V>(values: Readonly<Record<string, V>>, change: (value: V) => string): Record<string, string> =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, change(value)]))
