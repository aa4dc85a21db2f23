import { allows, roles, type Scope, scopePrefix, scopes, scopesOf } from '@masthead/contract'
import { describedOperations } from './described-operations.ts'
import { code, link, pageOf, sentence, table } from './markdown.ts'

const all = Object.entries(scopes) as [Scope, string][] // the keys of `scopes` are the scopes

export const scopesPage = (): string =>
  pageOf(
    '# Scopes',
    '',
    'Each operation needs one scope, and each token has the scopes that it was created with. No scope implies another.',
    ...table(
      ['scope', 'meaning', ...roles.map((role) => `role ${code(role)}`)],
      all.map(([scope, meaning]) => [
        `[${code(scope)}](#${scope.replace(':', '')})`,
        meaning,
        ...roles.map((role) => (allows(role, scope) ? 'yes' : '')),
      ]),
    ),
    ...table(['token', 'looks like', 'what it may do', 'created by'], tokens),
    '',
    'What a token may do is checked at each call: a change of a role, a revocation or a withdrawal takes effect at the next one. A call',
    'without the scope gets [`insufficient_scope`](problems.md#insufficient_scope), one without the role',
    '[`insufficient_role`](problems.md#insufficient_role).',
    ...all.flatMap(([scope, meaning]) => [
      '',
      `## ${scope}`,
      '',
      `${sentence(meaning)} Applications ask for it as ${code(scopePrefix + scope)}.`,
      '',
      ...describedOperations
        .filter(({ operation }) => scopesOf(operation).includes(scope))
        .map(({ name, operation: { summary } }) => `- ${link(name, 'operations.md')}: ${summary}`),
    ]),
  )

const tokens = [
  [
    'personal access token',
    code('mh_pat_…'),
    'what both its scopes and the role of its user in the tenant allow',
    link('masthead token create', 'commands.md'),
  ],
  ['service token', code('mh_svc_…'), 'its scopes, in its tenant', link('masthead token create', 'commands.md')],
  [
    'delegated token',
    'a JWT',
    'what the user has consented to, as far as their role allows it, in the tenant they have chosen',
    `OAuth 2.0 with PKCE, after ${link('masthead app register', 'commands.md')}`,
  ],
]
