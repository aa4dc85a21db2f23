-- Who may call: tenants, people, what a person may do in a tenant, and the tokens they hold.
-- These tables are read before the tenant of a call is known, so they carry no row-level security.

create table installation (
  only_row boolean primary key default true check (only_row),
  cursor_key bytea not null check (length(cursor_key) = 32)
);

create table tenants (
  id uuid primary key,
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null,
  default_assignee text,
  created_at timestamptz(3) not null default now()
);

create table users (
  id uuid primary key,
  email text not null,
  email_key text not null unique,
  name text not null,
  password_hash text not null,
  created_at timestamptz(3) not null default now()
);

create table memberships (
  tenant_id uuid not null references tenants,
  user_id uuid not null references users,
  role text not null check (role in ('admin', 'editor', 'viewer')),
  legacy_user_id text,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, user_id)
);

create table access_tokens (
  id uuid primary key,
  tenant_id uuid not null references tenants,
  kind text not null check (kind in ('personal', 'service')),
  user_id uuid,
  -- The integration that holds a service token.
  service text,
  -- The first token of a chain of rotations: the integration stays the same principal.
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
create index on memberships (user_id);
