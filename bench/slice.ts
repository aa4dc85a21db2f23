/** One request, and what must come back. */
export type Ask = {
  method?: 'GET' | 'POST' | 'PATCH'
  path: string
  token?: string
  headers?: Record<string, string>
  /** `########` becomes another number each time. */
  body?: object
  status?: number
}

/** For so many whole seconds. */
export type Slice = { origin: string; connections: number; seconds: number; asks: Ask[] }

/** What a slice gave: responses a second, and how many milliseconds half and 99 % of them took at most. */
export type Measured = { rate: number; p50: number; p99: number }
/** `busy` is the share of a core that the load took. */
export type Loaded = Measured & { seconds: number; count: number; busy: number }

export type LoadResult = Loaded | { error: string }
