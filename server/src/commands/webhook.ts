import { type DeliveryState, deliveryStates, type WebhookEventType, webhookEventTypes } from '@masthead/contract'
import { Command, Option } from 'commander'
import { operator } from '../audit/author.ts'
import type { TenantDatabase } from '../database/database.ts'
import { printable } from '../foreign-text.ts'
import { Refusal } from '../refusal.ts'
import { shownUrl } from '../webhooks/addresses.ts'
import {
  create,
  find,
  noEndpoint,
  remove,
  replay,
  resend,
  rotateSecret,
  type ShownEndpoint,
  sendTestEvent,
  update,
} from '../webhooks/administration.ts'
import { type Endpoint, listEndpoints } from '../webhooks/endpoints/queries.ts'
import { type DeliveryDetail, findDelivery, listDeliveries, withoutDetail } from '../webhooks/history/queries.ts'
import { action } from './action.ts'
import { readDuration, readNames } from './options.ts'
import { count, faint, showLines, showTable, strong } from './output.ts'
import { withTenant } from './with-database.ts'
import { withSecret } from './with-secret.ts'

type TenantOption = { tenant: string }
type CreateOptions = TenantOption & { url: string; events: string; description?: string }

export const webhook = (): Command => {
  const command = new Command('webhook').description(
    'manage the addresses outside that are told what happens in a tenant',
  )

  /** A command about one endpoint. */
  const about = (name: string, description: string, more = ''): Command =>
    command
      .command(`${name} <endpoint>${more}`)
      .description(description)
      .requiredOption('--tenant <slug>', 'the tenant')

  action(
    command
      .command('create')
      .description('tell an address of events from now on; prints the secret that signs them, once')
      .requiredOption('--tenant <slug>', 'the tenant')
      .requiredOption('--url <url>', 'where events are posted to')
      .requiredOption('--events <types>', `types of events, separated by commas: ${webhookEventTypes.join(', ')}`)
      .option('--description <text>', 'what it is for'),
    ({ tenant: slug, description = '', ...given }: CreateOptions) =>
      withSecret(slug, given.url, async (tenant, installation, url) => {
        const fields = { url, events: readEvents(given.events), description }
        return created(await create({ tenant, author: operator }, fields, installation))
      }),
    ({ id, url, secret }) => {
      showLines(`Events are sent to ${shownUrl(url)}, endpoint ${strong(id)}.`, `Secret: ${strong(secret)}`)
      showLines(faint('It is shown only now. The receiver verifies signatures with it.'))
    },
  )

  action(
    command
      .command('list')
      .description('list the endpoints of a tenant, the newest first')
      .requiredOption('--tenant <slug>', 'the tenant'),
    ({ tenant }: TenantOption) => withTenant(tenant, ({ read }) => listEndpoints(read)),
    (endpoints) =>
      showTable(
        endpoints.map((one) => ({ ...one, url: shownUrl(one.url), state: stateOf(one) })),
        ['id', 'kind', 'url', 'events', 'state', 'waiting', 'failed', 'description'],
        'No endpoints: masthead webhook create',
      ),
  )

  action(
    about('deliveries', 'list what was sent to an endpoint in the last 30 days and what waits, the newest first')
      .addOption(new Option('--state <state>', 'only deliveries in this state').choices(deliveryStates))
      .option('--before <number>', 'only deliveries with smaller numbers'),
    (id: string, { tenant, state, before }: TenantOption & { state?: DeliveryState; before?: string }) =>
      withEndpoint(tenant, id, ({ read }, endpoint) =>
        listDeliveries(read, endpoint.id, {
          most: 50,
          ...(state !== undefined && { state }),
          ...(before !== undefined && { before: readBefore(before) }),
        }),
      ),
    (deliveries) =>
      showTable(
        deliveries,
        ['number', 'id', 'type', 'state', 'attempts', 'status', 'durationMs', 'createdAt', 'nextAttemptAt', 'error'],
        'No deliveries.',
      ),
  )

  action(
    about('delivery', 'show a delivery with what was sent and the beginning of the response', ' <id>'),
    (id: string, event: string, { tenant }: TenantOption) => withDelivery(tenant, id, event, async (_, __, one) => one),
    ({ request, response, ...delivery }) => {
      showTable([delivery], ['number', 'id', 'type', 'state', 'attempts', 'status', 'durationMs', 'error'])
      showLines(
        '',
        strong(`POST ${request.url}`),
        printable(request.body),
        '',
        strong('Response'),
        response === null ? faint('There was none.') : printable(response),
      )
    },
  )

  action(
    about('resend', 'send a delivery again now, under the same webhook-id', ' <id>'),
    (id: string, event: string, { tenant }: TenantOption) =>
      withDelivery(tenant, id, event, async (database, endpoint, found) =>
        withoutDetail(await resend({ tenant: database, author: operator }, endpoint, found)),
      ),
    ({ id }, endpoint, _event, { tenant }) =>
      showLines(`${strong(id)} is sent again.`, faint(`masthead webhook deliveries ${endpoint} --tenant ${tenant}`)),
  )

  action(
    about('replay', 'send all events from a moment on again, in order and under the same webhook-ids').requiredOption(
      '--since <moment>',
      'a time such as 2026-11-01T00:00:00Z, or how long ago: 30d, 12h',
    ),
    (id: string, { tenant, since }: TenantOption & { since: string }) =>
      withEndpoint(tenant, id, async (database, endpoint) => ({
        ...(await replay({ tenant: database, author: operator }, endpoint, readMoment(since))),
        isDisabled: endpoint.disabledAt !== null,
      })),
    ({ replayed, isDisabled }, endpoint, { tenant }) => {
      showLines(`${count(replayed, 'event')} ${isDisabled ? 'will be' : replayed === 1 ? 'is' : 'are'} sent again.`)
      if (isDisabled) showLines(faint(`First: masthead webhook enable ${endpoint} --tenant ${tenant}`))
    },
  )

  action(
    about('test', 'send a test event'),
    (id: string, { tenant }: TenantOption) =>
      withEndpoint(tenant, id, async (database, endpoint) =>
        withoutDetail(await sendTestEvent({ tenant: database, author: operator }, endpoint)),
      ),
    ({ id }, endpoint, { tenant }) =>
      showLines(
        `The test event ${strong(id)} is sent.`,
        faint(`What becomes of it: masthead webhook delivery ${endpoint} ${id} --tenant ${tenant}`),
      ),
  )

  for (const [name, isDisabled, description] of [
    ['disable', true, 'stop sending; what happens is recorded for 30 days'],
    ['enable', false, 'send what waits, and what happens from now on'],
  ] as const) {
    action(
      about(name, description),
      (id: string, { tenant }: TenantOption) =>
        withEndpoint(tenant, id, (database, endpoint) =>
          update({ tenant: database, author: operator }, endpoint, { isDisabled }),
        ),
      ({ id, failed }, endpoint, { tenant }) => {
        showLines(`${strong(id)} is ${name}d.`)
        if (!isDisabled && failed > 0)
          showLines(
            faint(
              `${count(failed, 'delivery')} failed: masthead webhook replay ${endpoint} --tenant ${tenant} --since 30d`,
            ),
          )
      },
    )
  }

  action(
    about('rotate-secret', 'make a new secret; events are signed with both for 24 hours'),
    (id: string, { tenant: slug }: TenantOption) =>
      withSecret(slug, null, async (tenant, installation) => {
        const endpoint = await endpointOf(tenant, id)
        return created(await rotateSecret({ tenant, author: operator }, endpoint, installation))
      }),
    ({ secret }) =>
      showLines(`Secret: ${strong(secret)}`, faint('It is shown only now. The former one signs for 24 hours.')),
  )

  action(
    about('delete', 'delete an endpoint with its deliveries'),
    (id: string, { tenant }: TenantOption) =>
      withEndpoint(tenant, id, (database, endpoint) => remove({ tenant: database, author: operator }, endpoint)),
    ({ id }) => showLines(`${strong(id)} is deleted.`),
  )

  return command
}

const created = ({ id, url, events, description, secret }: ShownEndpoint) => ({ id, url, events, description, secret })

const stateOf = ({ disabledAt, disabledBecause, failingSince }: Endpoint): string => {
  if (disabledAt) return disabledBecause === 'requested' ? 'disabled' : `disabled: ${disabledBecause}`
  return failingSince ? 'failing' : 'ok'
}

const endpointOf = async (tenant: TenantDatabase, id: string): Promise<Endpoint> => {
  const endpoint = await find(tenant, id)
  if (!endpoint) throw noEndpoint(id)
  return endpoint
}

const withEndpoint = <T>(
  slug: string,
  id: string,
  work: (tenant: TenantDatabase, endpoint: Endpoint) => Promise<T>,
): Promise<T> => withTenant(slug, async (tenant) => work(tenant, await endpointOf(tenant, id)))

const withDelivery = <T>(
  slug: string,
  id: string,
  event: string,
  work: (tenant: TenantDatabase, endpoint: Endpoint, delivery: DeliveryDetail) => Promise<T>,
): Promise<T> =>
  withEndpoint(slug, id, async (tenant, endpoint) => {
    const delivery = await findDelivery(tenant.read, endpoint.id, event)
    if (delivery) return work(tenant, endpoint, delivery)
    throw new Refusal(`this endpoint has no delivery "${event}"; \`masthead webhook deliveries\` shows them`)
  })

/** Reads `contact.created,contact.updated`. */
const readEvents = (list: string): WebhookEventType[] =>
  readNames(list, webhookEventTypes, 'event', 'name at least one type, as in --events contact.created,contact.updated')

const readBefore = (text: string): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw new Refusal(
    `--before must be the number of a delivery, as \`masthead webhook deliveries\` shows it, not "${text}"`,
  )
}

/** Reads a time, or how long ago it was. */
const readMoment = (text: string): Date => {
  const isTime = /^\d{4}-\d{2}-\d{2}/.test(text)
  const moment = isTime ? new Date(text) : new Date(Date.now() - readDuration(text))
  if (Number.isNaN(moment.getTime())) throw new Refusal(`"${text}" is not a time: write 2026-11-01T00:00:00Z`)
  return moment
}
