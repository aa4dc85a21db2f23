import type { ReactNode } from 'react'

export type Tone = 'calm' | 'good' | 'caution' | 'problem'

export const Badge = ({ tone = 'calm', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`badge ${tone}`}>{children}</span>
)
