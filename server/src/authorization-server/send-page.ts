import type { FastifyReply } from 'fastify'
import { retryAfterSeconds } from '../problem.ts'
import type { Page } from './pages.ts'

export const sendPage = (reply: FastifyReply, page: Page): FastifyReply =>
  reply
    .code(page.status)
    .headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': page.contentSecurityPolicy,
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      ...(page.status === 503 && { 'retry-after': retryAfterSeconds }),
    })
    .send(page.html)
