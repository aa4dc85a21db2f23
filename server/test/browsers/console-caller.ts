import { managementApi } from '@masthead/contract'
import type { CallOptions, Service } from '../service.ts'
import { ConsoleBrowser, manage } from './console-session.ts'
import { newPerson } from './oauth-browser.ts'

type Memberships = Parameters<typeof newPerson> extends [unknown, ...infer M] ? M : never

/** Signs new people in to the console of a service, who call the management interface as it does. */
export const consoleFor =
  (service: Service) =>
  async (...memberships: Memberships) => {
    const person = await newPerson(service, ...memberships)
    const { management: token, customer } = await new ConsoleBrowser(service.origin).signIn(person)
    const call = (method: string, path: string, options: CallOptions = {}) =>
      manage(service.origin, method, path, { token, ...options })
    return { person, token, customer, call }
  }

/** An operation of the management interface, for which the contract says how it responds. */
export const operationNamed = (name: string) => {
  const named = managementApi.operations.find((operation) => operation.name === name)
  if (!named) throw new Error(`there is no operation ${name}`)
  return named
}
