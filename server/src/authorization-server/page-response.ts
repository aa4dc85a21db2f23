import type { PageResponse } from '../http/pages/page-response.ts'
import { retryAfterSeconds } from '../problem.ts'
import type { Page } from './pages.ts'

export const pageResponse = ({ status, html, contentSecurityPolicy }: Page): PageResponse => ({
  status,
  headers: {
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': contentSecurityPolicy,
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    ...(status === 503 && { 'retry-after': String(retryAfterSeconds) }),
  },
  body: html,
})
