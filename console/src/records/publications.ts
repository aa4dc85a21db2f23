import type { Publication } from '@masthead/client'
import { useQuery } from '@tanstack/react-query'
import { useMasthead } from '../session.tsx'

const most = 200

type Publications = {
  publications: readonly Publication[]
  /** Whether there are more is known as little as they are. */
  isPending: boolean
  areAll: boolean
}

/** The titles of the publisher, which are few and change rarely: as many as one page holds. */
export const usePublications = (): Publications => {
  const masthead = useMasthead()
  const { data, isPending } = useQuery({
    queryKey: ['publications', 'all'],
    queryFn: ({ signal }) =>
      masthead.publications.list({ pageSize: most }, { signal }).then(({ items, total }) => ({ items, total })),
    staleTime: 300_000,
  })
  return { publications: data?.items ?? [], isPending, areAll: data !== undefined && data.items.length === data.total }
}

/** Undefined while it is not known. */
export const usePublicationName = (id: string): string | undefined => {
  const masthead = useMasthead()
  const { publications, areAll } = usePublications()
  const known = publications.find((publication) => publication.id === id)
  const { data: fetched } = useQuery({
    queryKey: ['publications', id],
    queryFn: ({ signal }) => masthead.publications.get(id, { signal }),
    enabled: !known && publications.length > 0 && !areAll,
    staleTime: 300_000,
  })
  const publication = known ?? fetched
  return publication && (publication.name ?? publication.code)
}
