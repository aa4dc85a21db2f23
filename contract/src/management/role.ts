import { Type } from '../schema.ts'

export const roles = ['admin', 'editor', 'viewer'] as const
export type Role = (typeof roles)[number]

export const Role = Type.Unsafe<Role>({
  type: 'string',
  enum: [...roles],
  description:
    '`admin`: everything, and the administration. `editor`: everything in the records. `viewer`: looks only.',
})
