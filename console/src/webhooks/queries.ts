import type { Management, WebhookDeliveryQuery } from '@masthead/client/management'
import { keepPreviousData, queryOptions } from '@tanstack/react-query'

/** The first part of every key, by which all that is shown of webhooks is brought up to date. */
export const queryKey = ['webhook-endpoints']

/** Pages look again so often, and not while nobody sees them, which is how the library does it by default. */
const lookMilliseconds = 2_000

export const endpointsQuery = (management: Management) =>
  queryOptions({
    queryKey,
    queryFn: ({ signal }) => management.webhookEndpoints.list({ signal }),
    refetchInterval: lookMilliseconds,
  })

export const endpointQuery = (management: Management, id: string) =>
  queryOptions({
    queryKey: [...queryKey, id],
    queryFn: ({ signal }) => management.webhookEndpoints.get(id, { signal }),
    refetchInterval: lookMilliseconds,
  })

export const deliveriesQuery = (management: Management, endpointId: string, asked: WebhookDeliveryQuery) =>
  queryOptions({
    queryKey: [...queryKey, endpointId, 'deliveries', asked],
    queryFn: ({ signal }) => management.deliveries.list(endpointId, asked, { signal }),
    placeholderData: keepPreviousData,
    refetchInterval: lookMilliseconds,
  })

export const deliveryQuery = (management: Management, endpointId: string, id: string) =>
  queryOptions({
    queryKey: [...queryKey, endpointId, 'delivery', id],
    queryFn: ({ signal }) => management.deliveries.get(endpointId, id, { signal }),
    refetchInterval: lookMilliseconds,
  })

export const legacySystemQuery = (management: Management) =>
  queryOptions({
    queryKey: [...queryKey, 'legacy-system'],
    queryFn: ({ signal }) => management.legacySystem.get({ signal }),
    refetchInterval: lookMilliseconds,
  })
