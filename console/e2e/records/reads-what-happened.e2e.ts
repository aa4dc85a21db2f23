import assert from 'node:assert/strict'
import { newId } from '../../../server/src/records/identifiers.ts'
import {
  sampleAccount,
  sampleInvoice,
  samplePublication,
  sampleSubscription,
} from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireSoon } from '../visitor.ts'

/** What a person does who is asked who changed something, and what it was before. */

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const [admin, viewer] = [
  await newPerson('Ada Lovelace', [tenant, 'admin']),
  await newPerson('Grace Hopper', [tenant, 'viewer']),
]
const longName = 'Gesellschaft für Zeitungswesen '.repeat(7).slice(0, 200)
const arabicName = 'دار النشر العربية'
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'Harbour Books', city: 'Hamburg' }),
  sampleAccount('A2', { company: longName }),
  sampleAccount('A3', { company: arabicName }),
])
const publicationId = newId()
await tenant.add('publications', [samplePublication('HERALD', { id: publicationId, name: 'The Herald' })])
const terms = ['S-1', 'S-2'].map((subscriptionId, at) => ({
  id: newId(),
  subscriptionId,
  subscriptionNumber: '4711',
  startDate: `202${5 + at}-01-01`,
  expireDate: `202${5 + at}-12-31`,
}))
await tenant.add(
  'subscriptions',
  terms.map((term) => sampleSubscription('A1', publicationId, { ...term, renewedFromSubsId: null })),
)
const amounts = { isOpen: 1, total: '120.00', totalDue: '1060.50', dueDate: '2026-01-31', issueDate: '2026-01-01' }
const [invoice] = await tenant.add('invoices', [sampleInvoice('A1', publicationId, amounts)])

const call = async (method: string, path: string, body: object) =>
  (await service.call(method, path, { token, body })).body
const contact = await call('POST', '/contacts', { accountId: 'A1', firstName: 'Zoë', lastName: 'Dupré', phone: '1' })
const change = (changes: object) => call('PATCH', `/contacts/${contact.id}`, { accountId: 'A1', ...changes })
await change({ lastName: 'Meyer', doNotEmail: true })
await change({ phone: null })

visit('reads who changed what, and what it was before', viewer, async (page) => {
  await page.goto(`/contacts/${contact.id}`)
  const changes = page.getByRole('region', { name: 'Timeline' }).getByRole('listitem')
  await changes.nth(2).waitFor()
  const texts = (await changes.allInnerTexts()).map((text) => text.replaceAll(/\s+/g, ' '))
  assert.match(texts[0] ?? '', /^test \(integration\) changed .*Phone 1 → nothing$/)
  assert.match(texts[1] ?? '', /Name Zoë Dupré → Zoë Meyer Last name Dupré → Meyer Do not e-mail Yes$/)
  assert.match(texts[2] ?? '', /created it .*With 5 fields$/)
  await requireNoHindrance(page)
  await requireSoon(() => page.getByRole('link', { name: 'From where, in the audit trail' }).count(), 0)
})

visit('goes on to the older changes of a record', viewer, async (page) => {
  for (let at = 1; at <= 21; at++) await change({ title: `Buyer ${at}` })
  await page.goto(`/contacts/${contact.id}`)
  const timeline = page.getByRole('region', { name: 'Timeline' })
  await button(page, 'Older changes').click()
  await timeline.getByText('created it').waitFor()
  await requireSoon(() => timeline.getByRole('listitem').count(), 24)
})

visit('sees from where a change came, as an admin', admin, async (page) => {
  await page.goto('/accounts/A1')
  await page.getByText('Created by an import, or before changes were noted').waitFor()
  await page.getByRole('link', { name: 'From where, in the audit trail' }).click()
  await heading(page, 'Audit trail').waitFor()
})

visit('sees at once for whom, how much and until when', viewer, async (page) => {
  await page.goto('/accounts/A1')
  await page.getByText('1 open invoice, 1 overdue').waitFor()
  await page.getByText('1,060.50').first().waitFor()
  await page.goto(`/invoices/${invoice?.id}`)
  await page.getByRole('link', { name: 'Harbour Books' }).first().waitFor()
  await page.getByText('Hamburg · A1').waitFor()
  await page.getByText('of 120.00').waitFor()
  await requireSoon(() => page.getByText(String(invoice?.id)).first().isVisible(), false)
  await page.getByText('Identifiers and raw data').click()
  await page.getByText(String(invoice?.id)).first().waitFor()
  await requireNoHindrance(page)
})

visit('finds renewals by the number on the label', viewer, async (page) => {
  await page.goto('/subscriptions/S-2')
  const renewals = page.getByRole('region', { name: 'Renewals' }).getByRole('listitem')
  await renewals.nth(1).waitFor()
  await requireSoon(
    async () => (await renewals.allInnerTexts()).map((text) => text.split('\n').slice(0, 2)),
    [
      ['S-1', 'No. 4711'],
      ['S-2', 'No. 4711'],
    ],
  )
})

visit(
  'reads amounts and days as in German',
  viewer,
  async (page) => {
    await page.goto(`/invoices/${invoice?.id}`)
    await page.getByText('1.060,50').first().waitFor()
    await page.getByText('31.01.2026').first().waitFor()
  },
  { locale: 'de-DE' },
)

for (const [width, colorScheme] of [
  [390, 'light'],
  [1280, 'dark'],
] as const) {
  visit(
    `reads names of 200 letters and from right to left at ${width} pixels, ${colorScheme}`,
    viewer,
    async (page) => {
      for (const [accountId, company] of [
        ['A2', longName.trim()],
        ['A3', arabicName],
      ] as const) {
        await page.goto(`/accounts/${accountId}`)
        await heading(page, company).waitFor()
        await page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').first().waitFor()
        const excess = 'document.documentElement.scrollWidth - document.documentElement.clientWidth'
        assert.ok(Number(await page.evaluate(excess)) <= 0)
        await requireNoHindrance(page)
      }
    },
    { viewport: { width, height: 900 }, colorScheme },
  )
}
