const tags = new WeakMap<object, string>()

/** The `ETag` with which a record came: by `get`, `create`, `update`, `delete` or `restore`, but not in a list. */
export const etagOf = (record: object): string | undefined => tags.get(record)

export const noteEtag = (record: object, etag: string | null): void => {
  if (etag !== null) tags.set(record, etag)
}

/** The tag to send in `If-Match`: one that is given, or that of a record. */
export const ifMatchOf = (given: object | string): string => {
  const tag = typeof given === 'string' ? given : etagOf(given)
  if (tag !== undefined) return tag
  throw new TypeError('ifMatch needs an ETag, or a record that `get` or a write gave: those of a list have none')
}
