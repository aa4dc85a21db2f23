/** Until the client package has it. */
type MyTenant = { id: string; slug: string; name: string; role: 'admin' | 'editor' | 'viewer' }
export type Me = { userId: string; email: string; name: string; tenant: MyTenant; tenants: MyTenant[] }
const tenant: MyTenant = { id: '1', slug: 'demo', name: 'Demo Publishing', role: 'admin' }

export class Management {
  readonly me = {
    get: async (): Promise<Me> => ({
      userId: '1',
      email: 'ada@acme.example',
      name: 'Grace Hopper',
      tenant,
      tenants: [tenant],
    }),
    signOut: async (_options: { everywhere: boolean }): Promise<void> => {},
  }
}
