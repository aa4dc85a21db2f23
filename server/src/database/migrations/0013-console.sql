-- What the console stands on.

-- An application like any other, but that its redirect URI and scopes follow from the address of the service, and that
-- nobody is asked for consent. Disabled, nobody can sign in to the console.
insert into applications (id, name, redirect_uris, scopes, is_native, may_refresh)
values ('masthead-console', 'Masthead Console', '{}', '{}', false, true);

-- Who is signed in by a session, so that all sessions of a user can be ended.
alter table authorization_state add column account_id text;
update authorization_state set account_id = payload::json ->> 'accountId'
where model = 'Session' and payload not like '%\u0000%';
create index on authorization_state (account_id) where account_id is not null;

create table invitations (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  email text not null,
  email_key text not null,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  invited_by uuid references users on delete set null,
  -- The link holds the secret.
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  unique (tenant_id, email_key)
);

-- Renewals that come due, and what is owed, without reading everything.
create index on subscriptions (tenant_id, renewal_date) include (status_key) where deleted_at is null;
create index on invoices (tenant_id, due_date) include (total_due) where is_open = 1;
