import type * as typebox from 'typebox'

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json }

type Options = Record<string, unknown>

const isOptional = Symbol('optional')

const object = (properties: Record<string, object>, options?: Options) => {
  const required = Object.keys(properties).filter((name) => !(isOptional in (properties[name] ?? {})))
  return { type: 'object', ...(required.length > 0 && { required }), properties, ...options }
}

const builders = {
  String: (options?: Options) => ({ type: 'string', ...options }),
  Number: (options?: Options) => ({ type: 'number', ...options }),
  Integer: (options?: Options) => ({ type: 'integer', ...options }),
  Boolean: (options?: Options) => ({ type: 'boolean', ...options }),
  Literal: (value: string, options?: Options) => ({ type: 'string', const: value, ...options }),
  Array: (items: object, options?: Options) => ({ type: 'array', items, ...options }),
  Union: (anyOf: object[], options?: Options) => ({ anyOf, ...options }),
  Object: object,
  Optional: (schema: object) => ({ ...schema, [isOptional]: true }),
  Unsafe: (schema: object) => schema,
}

/**
 * The builders of typebox that the contract uses, with their types. The package can only be loaded as a whole, hundreds
 * of files, for which every command would wait. Each makes the JSON Schema of its namesake, without what typebox notes
 * in it for itself and nobody here reads: hence the cast.
 */
export const Type = builders as unknown as Pick<typeof typebox, keyof typeof builders>
