-- Tenants, people, what a person may do in a tenant, and access tokens.
-- The service reads these tables before it knows the tenant of a call, so they have no row-level security.

create table installation (
  only_row boolean primary key default true check (only_row),
  cursor_key bytea not null check (length(cursor_key) = 32)
);

create table tenants (
  -- The audit log of the installation is under the tenant 0, which nobody can create or delete.
  id uuid primary key check (id <> '00000000-0000-0000-0000-000000000000'),
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  default_assignee text,
  created_at timestamptz(3) not null default now()
);

create table users (
  id uuid primary key,
  email text not null,
  email_key text not null,
  -- A user whose address is not proven belongs to the one tenant that invited it. A user with a proven address has no
  -- tenant here and is the only one of that address in the installation.
  tenant_id uuid references tenants,
  name text not null,
  password_hash text not null,
  -- The name of the user at an outside issuer.
  subject text unique,
  -- Sessions that began before this time have ended, also when a request in flight stores one of them again.
  sessions_since timestamptz(3),
  created_at timestamptz(3) not null default now()
);
create unique index users_proven on users (email_key) where tenant_id is null;
create unique index users_unproven on users (email_key, tenant_id) where tenant_id is not null;

-- The audit log names people by their id, and this table tells who they were.
create table former_users (
  id uuid primary key,
  email text not null,
  name text not null,
  ended_at timestamptz(3) not null default now()
);

create table memberships (
  tenant_id uuid not null references tenants,
  user_id uuid not null references users,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  legacy_user_id text,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, user_id)
);
create index on memberships (user_id);

create table invitations (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  email text not null,
  email_key text not null,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  invited_by uuid references users on delete set null,
  -- The link holds the secret.
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  -- A link that was mailed proves the address of the person who follows it. A link that was shown to the inviter proves nothing.
  is_mailed boolean not null default false,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  unique (tenant_id, email_key)
);

create table access_tokens (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  kind text not null check (kind in ('personal', 'service')),
  user_id uuid,
  -- The integration that has a service token.
  service text,
  -- The first token of a chain of rotations. The integration stays the same principal through all of them.
  lineage_id uuid not null,
  name text not null,
  scopes text[] not null,
  secret_hash bytea not null unique check (length(secret_hash) = 32),
  default_assignee text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null,
  revoked_at timestamptz(3),
  last_used_at timestamptz(3),
  check ((kind = 'personal') = (user_id is not null) and (kind = 'service') = (service is not null)),
  -- A personal token belongs to a membership and ends with it.
  foreign key (tenant_id, user_id) references memberships on delete cascade
);
create index on access_tokens (tenant_id, created_at);
create index on access_tokens (user_id);
