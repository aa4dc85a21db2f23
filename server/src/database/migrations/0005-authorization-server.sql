-- Applications that act for users, what users allowed them, and the state of the authorization server.
-- Like the other identity tables these are read before a tenant is known.

create table applications (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  scopes text[] not null,
  is_native boolean not null,
  may_refresh boolean not null,
  -- Registered by a tenant's administrator: consent is possible for this tenant only.
  tenant_id uuid references tenants,
  created_at timestamptz(3) not null default now(),
  disabled_at timestamptz(3)
);

-- What a user allowed an application to do in a tenant. Ends with the membership.
create table consents (
  grant_id text primary key,
  application_id text not null references applications,
  tenant_id uuid not null,
  user_id uuid not null,
  scopes text[] not null,
  created_at timestamptz(3) not null default now(),
  withdrawn_at timestamptz(3),
  foreign key (tenant_id, user_id) references memberships on delete cascade
);
create index on consents (tenant_id, user_id);
create index on consents (application_id);

-- Codes, refresh tokens, sessions, interactions and grants. Their ids are bearer secrets, so only hashes are kept.
-- The payload is text: it may hold a NUL character, which jsonb refuses.
create table authorization_state (
  model text not null,
  id_hash bytea not null,
  payload text not null,
  grant_id text,
  uid text,
  consumed_at timestamptz(3),
  expires_at timestamptz(3) not null,
  primary key (model, id_hash)
);
create index on authorization_state (grant_id);
create index on authorization_state (uid);
create index on authorization_state (expires_at);

-- Private keys are encrypted under MASTHEAD_SECRET.
create table signing_keys (
  id text primary key,
  encrypted_key bytea not null,
  public_key text not null,
  created_at timestamptz(3) not null default now(),
  -- No longer signs, but stays published until the last token that it signed has expired.
  retired_at timestamptz(3)
);

-- Failed sign-ins, by whom they were tried on and from where.
create table sign_in_failures (
  key_hash bytea primary key,
  failures integer not null,
  first_at timestamptz(3) not null
);

-- The name of a user at an outside issuer.
alter table users add column subject text unique;
