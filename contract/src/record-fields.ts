import type { TSchema } from 'typebox'
import { type Comparison, type Content, type Default, type KeyForm, type Kind, longest, traitsOf } from './fields.ts'
import type { Resource } from './operation.ts'
import { listParametersOf, type ResourceName, resourceNames, resources } from './resources.ts'

/** A field of a resource, with all that storing, importing, exporting and showing it needs. */
export type Field = {
  /** As in the API; also the heading of a column in a file. */
  name: string
  description: string
  /** The column of the resource's table. */
  column: string
  /** The column that holds what filters and sorting compare, and its form; null where they compare the value itself. */
  keyColumn: string | null
  keyForm: KeyForm | null
  kind: Kind
  /** What a text holds. */
  content: Content | null
  isNullable: boolean
  /** Responses show it. */
  isShown: boolean
  /** Stored, imported and exported; the others are derived from it. */
  isStored: boolean
  /** It shows this field, an amount of money, in cents. */
  centsOf: string | null
  /** What it holds in a new record that gives none. */
  default: Default | null
  /** Of a text, in characters. */
  minLength: number
  maxLength: number
  /** The identifier that people use beside the `id`. */
  isIdentifier: boolean
  /** The resource whose record it names, by that resource's canonical identifier. */
  reference: ResourceName | null
  /** The record is deleted once it holds a value. */
  marksDeletion: boolean
  /** Members of an open set that everybody knows. */
  known: readonly string[]
  /** All that it may hold; empty where that is not a closed set. */
  choices: readonly string[]
}

type JsonSchema = { type?: string | string[]; description?: string; anyOf?: { const?: string }[] }

const describe = (resource: Resource, name: string, schema: TSchema, isShown: boolean): Field => {
  const traits = traitsOf(schema)
  const { type, anyOf = [], description = '' } = schema as JsonSchema // the contract is written in no other
  const column = name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  const isIdentifier = name === resource.businessIdentifier
  const content = isIdentifier ? 'businessIdentifier' : (traits.content ?? null)
  return {
    name,
    description,
    column,
    content,
    isShown,
    isIdentifier,
    kind: traits.kind,
    keyColumn: traits.key ? `${column}_${traits.key === 'cents' ? 'cents' : 'key'}` : null,
    keyForm: traits.key ?? null,
    isNullable: [type].flat().includes('null') && traits.default === undefined,
    isStored: traits.centsOf === undefined,
    centsOf: traits.centsOf ?? null,
    default: traits.default ?? null,
    minLength: name === keyNameOf(resource) ? 1 : 0,
    maxLength: longest[content ?? 'name'],
    reference: (traits.reference ?? null) as ResourceName | null, // a test holds references to the names of resources
    marksDeletion: traits.marksDeletion ?? false,
    known: traits.known ?? [],
    choices: anyOf.flatMap(({ const: choice }) => choice ?? []),
  }
}

const keyNameOf = ({ businessIdentifier, importKey }: Resource): string | undefined => businessIdentifier ?? importKey

const byResource = <T>(make: (resource: Resource, name: ResourceName) => T): Readonly<Record<ResourceName, T>> =>
  Object.fromEntries(resourceNames.map((name) => [name, make(resources[name], name)])) as Record<ResourceName, T> // of every name

const all = byResource((resource) => [
  ...Object.entries(resource.record.properties).map(([name, schema]) => describe(resource, name, schema, true)),
  ...Object.entries(resource.storedOnly ?? {}).map(([name, schema]) => describe(resource, name, schema, false)),
])
const stored = byResource((_resource, name) => all[name].filter(({ isStored }) => isStored))

/** Every field of the resource that is stored or shown: first what responses show, in their order. */
export const fieldsOf = (resource: ResourceName): readonly Field[] => all[resource]

/** Those of them that have a column. They can be imported, and an export holds them. */
export const storedFieldsOf = (resource: ResourceName): readonly Field[] => stored[resource]

export const fieldOf = (resource: ResourceName, name: string): Field => {
  const field = all[resource].find((one) => one.name === name)
  if (field) return field
  throw new Error(`${resource} have no field ${name}`)
}

const identifiers = byResource(({ businessIdentifier = 'id', canonicalIdentifier = 'id' }, name) => ({
  canonical: fieldOf(name, canonicalIdentifier),
  other: fieldOf(name, canonicalIdentifier === 'id' ? businessIdentifier : 'id'),
}))

/** Both fields by which a record can be named: the one that other records refer to it by, and the other one. */
export const identifiersOf = (resource: ResourceName): { canonical: Field; other: Field } => identifiers[resource]

/** The field by which an import recognises a record, beside its `id`; null where there is none. */
export const importKeyOf = (resource: ResourceName): Field | null => {
  const name = keyNameOf(resources[resource])
  return name === undefined ? null : fieldOf(resource, name)
}

/** Both of them. */
export const importKeysOf = (resource: ResourceName): readonly Field[] =>
  [importKeyOf(resource), fieldOf(resource, 'id')].filter((field) => field !== null)

/** The fields of other resources that name records of this one. */
export const referrersOf = (resource: ResourceName): readonly { resource: ResourceName; field: Field }[] =>
  resourceNames
    .filter((other) => other !== resource)
    .flatMap((other) =>
      all[other].filter(({ reference }) => reference === resource).map((field) => ({ resource: other, field })),
    )

export type Predecessor = Field & { resource: ResourceName; relation: string }

/** The field that names the predecessor of a record; null where records have none. */
export const predecessorOf = (resource: ResourceName): Predecessor | null => {
  const { predecessor }: Resource = resources[resource]
  return predecessor ? { ...fieldOf(resource, predecessor.field), resource, relation: predecessor.relation } : null
}

const referenceFilters = byResource(({ listing }, name) =>
  listParametersOf(name)
    .filter(([parameter, schema]) => traitsOf(schema).reference && !listing?.filters.includes(parameter))
    .map(([parameter]) => parameter),
)
/** The fields by which a list narrows down to what refers to one record. It keeps no tallies of these: their records are counted in an index. */
export const referenceFiltersOf = (resource: ResourceName): readonly string[] => referenceFilters[resource]

/** A parameter of a list that compares a field with its value, and keeps no totals. */
type ListComparison = { parameter: string; field: Field; by: Comparison['by'] }

const comparisons = byResource((_resource, name) =>
  listParametersOf(name).flatMap(([parameter, schema]): ListComparison[] => {
    const { compares } = traitsOf(schema)
    return compares ? [{ parameter, field: fieldOf(name, compares.field), by: compares.by }] : []
  }),
)
export const comparisonsOf = (resource: ResourceName): readonly ListComparison[] => comparisons[resource]

const untallied = byResource(({ listing }, name) => [
  'sort',
  'ids',
  ...(listing?.overdue ? [listing.overdue.parameter] : []),
  ...comparisons[name].map(({ parameter }) => parameter),
])

/** The parameters of a list without kept totals: its pages are walked by cursor. */
export const untalliedParametersOf = (resource: ResourceName): readonly string[] => untallied[resource]
