import assert from 'node:assert/strict'
import { sampleAccount } from '../../../server/test/records/sample-records.ts'
import { button, heading, openConsole, requireNoHindrance, requireRows, requireSoon } from '../visitor.ts'

const { service, newPerson, visit } = await openConsole()
const tenant = await service.newTenant('Herald Press')
const token = await tenant.serviceToken()
const editor = await newPerson('Grace Hopper', [tenant, 'editor'])
await tenant.add('accounts', [
  sampleAccount('A1', { company: 'Harbour Books' }),
  sampleAccount('A2', { company: 'Valley Library' }),
])
const newTask = async (title: string, accountId = 'A1'): Promise<string> =>
  (await service.call('POST', '/tasks', { token, body: { accountId, title, dueDate: '2026-12-24' } })).body.id

visit('finds what is open, does it, and opens it again', editor, async (page) => {
  const id = await newTask('Send the media kit')
  await newTask('Call back')
  await page.goto('/accounts/A1')
  await page.getByRole('region', { name: 'Tasks' }).getByRole('link', { name: 'Call back' }).waitFor()
  await page.getByRole('link', { name: 'All tasks' }).click()
  await heading(page, 'Tasks').waitFor()
  await page.getByRole('link', { name: 'Send the media kit' }).click()
  await heading(page, 'Send the media kit').waitFor()
  await requireNoHindrance(page)
  await button(page, 'Done').click()
  await page.getByRole('status').getByText('“Send the media kit” is done.').waitFor()
  await button(page, 'Open again').waitFor()
  const stored = async () => (await service.call('GET', `/tasks/${id}`, { token })).body
  assert.ok(Math.abs(Date.now() - Date.parse((await stored()).doneAt)) < 3_600_000)
  await page.goto('/tasks?open=true')
  await page.getByRole('link', { name: 'Call back' }).waitFor()
  await requireSoon(() => page.getByRole('link', { name: 'Send the media kit' }).count(), 0)
  await page.goto(`/tasks/${id}`)
  await button(page, 'Open again').click()
  await button(page, 'Done').waitFor()
  assert.equal((await stored()).doneAt, null)
})

visit('adds a task beside the account, is told what is missing, and does it there', editor, async (page) => {
  await page.goto('/accounts/A1')
  const tasks = page.getByRole('region', { name: 'Tasks' })
  await button(page, 'Add a task').click()
  const form = tasks.getByRole('form', { name: 'New task' })
  await form.getByLabel('Title').fill('Congratulate them')
  await button(page, 'Add').click()
  await form.getByText('Due date is required.').waitFor()
  await requireNoHindrance(page)
  await form.getByLabel('Due date').fill('2026-12-31')
  await button(page, 'Add').click()
  await tasks.getByRole('link', { name: 'Congratulate them' }).waitFor()
  await button(page, 'Done: Congratulate them').click()
  await page.getByRole('status').getByText('“Congratulate them” is done.').waitFor()
  await tasks.getByRole('link', { name: 'Congratulate them' }).waitFor({ state: 'detached' })
  const { body } = await service.call('GET', '/tasks?accountId=A1&open=false', { token })
  assert.ok(body.items.some(({ title }: { title: string }) => title === 'Congratulate them'))
})

visit('adds one task after another, each in a form that is blank', editor, async (page) => {
  await page.goto('/accounts/A1')
  const form = page.getByRole('form', { name: 'New task' })
  const title = form.getByLabel('Title')
  await button(page, 'Add a task').click()
  await title.fill('Never mind')
  await button(page, 'Cancel').click()
  await button(page, 'Add a task').click()
  await requireSoon(() => title.inputValue(), '')
  await title.fill('Write to them')
  await form.getByLabel('Due date').fill('2026-12-31')
  await button(page, 'Add').click()
  await page.getByRole('link', { name: 'Write to them' }).waitFor()
  await button(page, 'Add a task').click()
  await requireSoon(() => title.inputValue(), '')
})

visit('begins a task, goes to another account, and begins it there anew', editor, async (page) => {
  const goTo = async (company: string) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox', { name: 'Search everything' }).fill(company)
    await page.getByRole('option', { name: company }).first().click()
    await heading(page, company).waitFor()
  }
  await page.goto('/accounts')
  await heading(page, 'Accounts').waitFor()
  await goTo('Harbour Books')
  await goTo('Valley Library')
  await button(page, 'Add a task').click()
  await page.getByRole('form', { name: 'New task' }).waitFor()
  await goTo('Harbour Books')
  await button(page, 'Add a task').click()
  const form = page.getByRole('form', { name: 'New task' })
  await form.getByLabel('Title').fill('For the harbour')
  await form.getByLabel('Due date').fill('2026-12-31')
  await button(page, 'Add').click()
  await page.getByRole('link', { name: 'For the harbour' }).waitFor()
})

visit('reloads the page while a task is typed, and goes on with it', editor, async (page) => {
  await page.goto('/accounts/A1')
  const title = page.getByRole('form', { name: 'New task' }).getByLabel('Title')
  await button(page, 'Add a task').click()
  await title.fill('Ask for the logo')
  page.once('dialog', (dialog) => dialog.accept())
  await page.reload()
  await button(page, 'Add a task').click()
  await requireSoon(() => title.inputValue(), 'Ask for the logo')
  await button(page, 'Discard it').click()
  await requireSoon(() => title.inputValue(), '')
})

const tasksOf = async (accountId: string, title: string): Promise<number> => {
  const { body } = await service.call('GET', `/tasks?accountId=${accountId}`, { token })
  return body.items.filter((task: { title: string }) => task.title === title).length
}

visit(
  'adds a task whose answer is lost, reloads the page, adds it again, and it is there once',
  editor,
  async (page) => {
    page.on('dialog', (dialog) => dialog.accept())
    await page.goto('/accounts/A1')
    const form = page.getByRole('form', { name: 'New task' })
    await button(page, 'Add a task').click()
    await form.getByLabel('Title').fill('Thank them')
    await form.getByLabel('Due date').fill('2026-12-31')
    await page.route('**/customer-api/v1/tasks', async (route) => {
      await route.fetch()
      await route.abort('connectionreset')
    })
    await button(page, 'Add').click()
    await form.getByText('The service did not answer').waitFor()
    assert.equal(await tasksOf('A1', 'Thank them'), 1)
    await page.unroute('**/customer-api/v1/tasks')
    await page.reload()
    await button(page, 'Add a task').click()
    await form.getByText('What you typed before is restored').waitFor()
    await button(page, 'Add').click()
    await page.getByRole('link', { name: 'Thank them' }).waitFor()
    await form.waitFor({ state: 'detached' })
    assert.equal(await tasksOf('A1', 'Thank them'), 1)
  },
)

visit('adds a task before the service is lost, and is not told that it is not saved', editor, async (page) => {
  await page.goto('/accounts/A1')
  const form = page.getByRole('form', { name: 'New task' })
  await button(page, 'Add a task').click()
  await form.getByLabel('Title').fill('Offer the archive')
  await form.getByLabel('Due date').fill('2026-12-31')
  await page.route('**/*', (route) =>
    route.request().method() === 'POST' ? route.continue() : route.abort('connectionrefused'),
  )
  await button(page, 'Add').click()
  await page.getByText('The service does not answer').waitFor()
  await page.unroute('**/*')
  await page.reload()
  await button(page, 'Add a task').click()
  await requireSoon(() => form.getByLabel('Title').inputValue(), '')
})

visit('goes back to the list before a task is marked, and the list keeps its filters', editor, async (page) => {
  await newTask('Wait for the answer', 'A2')
  await page.goto('/tasks?accountId=A2&open=true')
  await page.getByRole('link', { name: 'Wait for the answer' }).click()
  await heading(page, 'Wait for the answer').waitFor()
  const slow = Promise.withResolvers<void>()
  await page.route('**/customer-api/v1/tasks/*', async (route) => {
    if (route.request().method() === 'PATCH') await slow.promise
    await route.continue()
  })
  await button(page, 'Done').click()
  await page.goBack()
  await requireRows(page, ['Wait for the answer'])
  slow.resolve()
  await requireRows(page, [])
  await page.waitForURL(({ search }) => search === '?accountId=A2&open=true')
})

visit('gives up a task while it is sent, and keeps what is typed into the next one', editor, async (page) => {
  await page.goto('/accounts/A2')
  const title = page.getByRole('form', { name: 'New task' }).getByLabel('Title')
  const slow = Promise.withResolvers<void>()
  await page.route('**/customer-api/v1/tasks', async (route) => {
    if (route.request().method() === 'POST') await slow.promise
    await route.continue()
  })
  await button(page, 'Add a task').click()
  await title.fill('Too slow')
  await page.getByLabel('Due').fill('2027-01-15')
  await button(page, 'Add').click()
  await button(page, 'Cancel').click()
  await button(page, 'Add a task').click()
  await title.fill('The next one')
  slow.resolve()
  await page.getByRole('region', { name: 'Tasks' }).getByRole('link', { name: 'Too slow' }).waitFor()
  assert.equal(await title.inputValue(), 'The next one')
  await page.reload()
  await button(page, 'Add a task').click()
  await requireSoon(() => title.inputValue(), 'The next one')
})

visit('puts a task off, with a note and for somebody else', editor, async (page) => {
  const id = await newTask('Offer the yearly plan')
  await page.goto(`/tasks/${id}`)
  await page.getByRole('link', { name: 'Edit' }).click()
  await heading(page, 'Edit Offer the yearly plan').waitFor()
  await requireNoHindrance(page)
  await page.getByLabel('Due date').fill('2027-01-15')
  await page.getByLabel('Notes').fill('On holiday until then.')
  await page.getByLabel('Legacy user').fill('maria')
  await button(page, 'Save').click()
  await page.getByRole('status').getByText('Offer the yearly plan was saved.').waitFor()
  await page.getByRole('region', { name: 'Details' }).getByText('On holiday until then.').waitFor()
  const { body } = await service.call('GET', `/tasks/${id}`, { token })
  assert.deepEqual([body.dueDate, body.userId, body.accountId], ['2027-01-15', 'maria', 'A1'])
})
