import '../admin/administration.css'
import type { Invitation, Member, ShownInvitation } from '@masthead/client/management'
import type { Role } from '@masthead/contract'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ConfirmDialog } from '../admin/confirm-dialog.tsx'
import { RoleChoice, roleNames } from '../admin/role-choice.tsx'
import { SecretDialog } from '../admin/secret-dialog.tsx'
import { SecretLost } from '../admin/secret-lost.tsx'
import { Ago } from '../design/ago.tsx'
import { Badge } from '../design/badge.tsx'
import { Copied } from '../design/copied.tsx'
import { Dialog } from '../design/dialog.tsx'
import { Fetched } from '../design/fetched.tsx'
import { formatDay, formatInstant } from '../design/formats.ts'
import { PageHead } from '../design/page-head.tsx'
import { Empty } from '../design/states.tsx'
import { TableHead } from '../design/table-head.tsx'
import { TextField } from '../design/text-field.tsx'
import { useDraft } from '../forms/draft.ts'
import { FormDialog } from '../forms/form-dialog.tsx'
import { useSubmission } from '../forms/submission.ts'
import { inTenant } from '../paths.ts'
import { Permitted } from '../permission.tsx'
import { useManagement, useMe } from '../session.tsx'

const [membersKey, invitationsKey] = [['members'], ['invitations']]
const title = 'Members'

export const Page = () => (
  <Permitted title={title} scope="members:manage">
    <Members />
  </Permitted>
)

type Asked =
  | { for: 'inviting' }
  | { for: 'showing'; invitation: ShownInvitation }
  | { for: 'withdrawing'; invitation: Invitation }
  | { for: 'changing' | 'removing'; member: Member }

const Members = () => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const me = useMe()
  const members = useQuery({ queryKey: membersKey, queryFn: ({ signal }) => management.members.list({ signal }) })
  const invitations = useQuery({
    queryKey: invitationsKey,
    queryFn: ({ signal }) => management.invitations.list({ signal }),
  })
  const [asked, setAsked] = useState<Asked>()
  // A late answer closes its own dialog, not the one that was opened after it.
  const onClose = () => setAsked((now) => (now === asked ? undefined : now))
  return (
    <div className="page">
      <PageHead
        title={title}
        actions={
          <button type="button" className="button primary" onClick={() => setAsked({ for: 'inviting' })}>
            Invite a colleague
          </button>
        }
      >
        Who may sign in to {me.tenant.name}, and what they may do.
      </PageHead>
      <Fetched query={members} what="the members">
        {({ items }) => <MemberTable members={items} onAsk={setAsked} />}
      </Fetched>
      <section className="section">
        <h2>Open invitations</h2>
        <Fetched query={invitations} what="the invitations">
          {({ items }) => <InvitationTable invitations={items} onAsk={setAsked} />}
        </Fetched>
      </section>
      {asked?.for === 'inviting' && (
        <InviteDialog onClose={onClose} onInvited={(invitation) => setAsked({ for: 'showing', invitation })} />
      )}
      {asked?.for === 'showing' && <InvitationDialog invitation={asked.invitation} onClose={onClose} />}
      {asked?.for === 'changing' && <ChangeDialog member={asked.member} onClose={onClose} />}
      {asked?.for === 'removing' && (
        <ConfirmDialog
          title={`Remove ${asked.member.name}?`}
          action="Remove the member"
          onClose={onClose}
          onConfirm={async () => {
            await management.members.delete(asked.member.userId)
            if (asked.member.userId === me.userId) location.assign(inTenant(me.tenant.slug, '/'))
            await queryClient.invalidateQueries({ queryKey: membersKey })
          }}
        >
          <p>
            {asked.member.userId === me.userId ? 'This is you: you can' : `${asked.member.email} can`} no longer use{' '}
            {me.tenant.name}, with all personal access tokens and consents of this membership. Records stay as they are.
          </p>
        </ConfirmDialog>
      )}
      {asked?.for === 'withdrawing' && (
        <ConfirmDialog
          title={`Withdraw the invitation of ${asked.invitation.email}?`}
          action="Withdraw the invitation"
          onClose={onClose}
          onConfirm={async () => {
            await management.invitations.delete(asked.invitation.id)
            await queryClient.invalidateQueries({ queryKey: invitationsKey })
          }}
        >
          <p>The link no longer works.</p>
        </ConfirmDialog>
      )}
    </div>
  )
}

type Ask = { onAsk: (asked: Asked) => void }

const MemberTable = ({ members, onAsk }: Ask & { members: readonly Member[] }) => {
  const me = useMe()
  return (
    <div className="card table-frame">
      <table className="records plain">
        <caption className="visually-hidden">Members</caption>
        <TableHead columns={['Name', 'Role', 'In the legacy system', 'Since']} hasActions />
        <tbody>
          {members.map((member) => (
            <tr key={member.userId}>
              <td>
                <strong className="row-title">{member.name}</strong>
                {member.userId === me.userId && <Badge>You</Badge>}
                <p className="small muted">{member.email}</p>
              </td>
              <td data-label="Role">{roleNames[member.role].label}</td>
              <td data-label="In the legacy system" className={member.legacyUserId === null ? 'blank' : undefined}>
                {member.legacyUserId !== null && <code>{member.legacyUserId}</code>}
              </td>
              <td data-label="Since">
                <time dateTime={member.createdAt}>{formatDay(member.createdAt)}</time>
              </td>
              <td className="row-actions">
                <button type="button" className="button" onClick={() => onAsk({ for: 'changing', member })}>
                  Change<span className="visually-hidden"> {member.name}</span>
                </button>
                <button type="button" className="button danger" onClick={() => onAsk({ for: 'removing', member })}>
                  Remove<span className="visually-hidden"> {member.name}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

const InvitationTable = ({ invitations, onAsk }: Ask & { invitations: readonly Invitation[] }) => {
  if (invitations.length === 0)
    return (
      <div className="card">
        <Empty title="Nobody is invited right now">
          <p>Invite a colleague by a link that works once.</p>
        </Empty>
      </div>
    )
  return (
    <div className="card table-frame">
      <table className="records plain">
        <caption className="visually-hidden">Open invitations</caption>
        <TableHead columns={['E-mail', 'Role', 'Invited by', 'Ends']} hasActions />
        <tbody>
          {invitations.map((invitation) => (
            <tr key={invitation.id}>
              <td>
                <strong className="row-title">{invitation.email}</strong>
              </td>
              <td data-label="Role">{roleNames[invitation.role].label}</td>
              <td data-label="Invited by">{invitation.invitedBy}</td>
              <td data-label="Ends">
                <Ago at={invitation.expiresAt} />
              </td>
              <td className="row-actions">
                <button
                  type="button"
                  className="button danger"
                  onClick={() => onAsk({ for: 'withdrawing', invitation })}
                >
                  Withdraw<span className="visually-hidden"> the invitation of {invitation.email}</span>
                </button>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

type InviteDialogProps = { onClose: () => void; onInvited: (invitation: ShownInvitation) => void }

const nobody: { email: string; role: Role } = { email: '', role: 'viewer' }

const InviteDialog = ({ onClose, onInvited }: InviteDialogProps) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { value, change, draft } = useDraft('invitation', nobody)
  const { email, role } = value
  const submit = async () => {
    const invited = await send({ email: email.trim(), role }, (input, options) =>
      management.invitations.create(input, options),
    )
    queryClient.invalidateQueries({ queryKey: invitationsKey })
    if (!invited) return
    draft.forget()
    onInvited(invited)
  }
  return (
    <FormDialog
      isBusy={isBusy}
      draft={draft}
      onClose={onClose}
      title="Invite a colleague"
      action="Invite"
      refusal={error}
      trouble={trouble}
      lost={<SecretLost what="the link" cure="Invite them once more: the new link replaces it." />}
      onSubmit={submit}
    >
      <TextField
        label="E-mail address"
        inputMode="email"
        help="They will sign in with it."
        value={email}
        onChange={(email) => change({ email })}
        error={errorAt('email')}
      />
      <RoleChoice role={role} onChange={(role) => change({ role })} error={errorAt('role')} />
    </FormDialog>
  )
}

type InvitationDialogProps = { invitation: ShownInvitation; onClose: () => void }

const InvitationDialog = ({ invitation, onClose }: InvitationDialogProps) =>
  invitation.url === null ? (
    <MailedDialog invitation={invitation} onClose={onClose} />
  ) : (
    <LinkDialog invitation={invitation} onClose={onClose} url={invitation.url} />
  )

const MailedDialog = ({ invitation, onClose }: InvitationDialogProps) => (
  <Dialog title="The invitation is on its way" onClose={onClose}>
    <p>
      We mailed a link to {invitation.email}. With it they become {roleNames[invitation.role].withArticle}; it works
      until {formatInstant(invitation.expiresAt)}.
    </p>
    <div className="dialog-actions">
      <button type="button" className="button primary" onClick={onClose}>
        Done
      </button>
    </div>
  </Dialog>
)

const LinkDialog = ({ invitation, url, onClose }: InvitationDialogProps & { url: string }) => (
  <SecretDialog
    title={`Invitation of ${invitation.email}`}
    onClose={onClose}
    warning="Copy the link now: it is not shown again. It works once."
  >
    <p>
      Send it to {invitation.email} through a channel only they can read. They become{' '}
      {roleNames[invitation.role].withArticle}; it works until {formatInstant(invitation.expiresAt)}.
    </p>
    <Copied label="Link" text={url} />
  </SecretDialog>
)

const ChangeDialog = ({ member, onClose }: { member: Member; onClose: () => void }) => {
  const management = useManagement()
  const queryClient = useQueryClient()
  const me = useMe()
  const { isBusy, error, trouble, errorAt, send } = useSubmission()
  const { value, change, draft } = useDraft(`members/${member.userId}`, {
    role: member.role,
    legacyUserId: member.legacyUserId ?? '',
  })
  const { role, legacyUserId } = value
  const isMe = member.userId === me.userId
  const submit = async () => {
    const changed = await send({ role, legacyUserId: legacyUserId.trim() || null }, (input) =>
      management.members.update(member.userId, input),
    )
    if (!changed) return
    draft.forget()
    // What one may do is asked when the console opens.
    if (isMe && changed.role !== me.tenant.role) location.assign(inTenant(me.tenant.slug, '/'))
    await queryClient.invalidateQueries({ queryKey: membersKey })
    onClose()
  }
  return (
    <FormDialog
      isBusy={isBusy}
      draft={draft}
      onClose={onClose}
      trouble={trouble}
      title={`Change ${member.name}`}
      action="Save"
      refusal={error}
      onSubmit={submit}
    >
      <RoleChoice role={role} onChange={(role) => change({ role })} error={errorAt('role')} />
      {isMe && role !== 'admin' && (
        <p className="warning">This is you: another admin would have to make you one again.</p>
      )}
      <TextField
        label="In the legacy system (optional)"
        help="The identifier of this user there; tasks that they create go to it."
        value={legacyUserId}
        onChange={(legacyUserId) => change({ legacyUserId })}
        error={errorAt('legacyUserId')}
      />
    </FormDialog>
  )
}
