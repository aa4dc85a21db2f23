-- Applications that act for users, what users allowed them, and the state of the authorization server.
-- The service reads these tables, too, before it knows the tenant of a call.

create table applications (
  id text primary key,
  name text not null,
  redirect_uris text[] not null,
  scopes text[] not null,
  is_native boolean not null,
  may_refresh boolean not null,
  -- The tenant whose administrator registered it. Users can give consent for this tenant only.
  tenant_id uuid references tenants,
  created_at timestamptz(3) not null default now(),
  disabled_at timestamptz(3)
);
-- The console is an application like any other, except that its redirect URI and scopes follow from the address of the service
-- and nobody is asked for consent. While it is disabled, nobody can sign in to the console.
insert into applications (id, name, redirect_uris, scopes, is_native, may_refresh)
values ('masthead-console', 'Masthead Console', '{}', '{}', false, true);

-- What a user allowed an application to do in a tenant. It ends with the membership.
create table consents (
  grant_id text primary key,
  application_id text not null references applications,
  tenant_id uuid not null,
  user_id uuid not null,
  scopes text[] not null,
  -- The session of the browser in which the console was opened, whatever tenants it has worked in.
  session_uid text,
  created_at timestamptz(3) not null default now(),
  withdrawn_at timestamptz(3),
  foreign key (tenant_id, user_id) references memberships on delete cascade
);
create index on consents (tenant_id, user_id);
create index on consents (application_id);
create index on consents (user_id) where withdrawn_at is null;

-- Codes, refresh tokens, sessions, interactions and grants. Their ids are bearer secrets, so only hashes are stored.
-- The payload is text because it may hold a NUL character, which jsonb refuses.
create table authorization_state (
  model text not null,
  id_hash bytea not null,
  payload text not null,
  grant_id text,
  uid text,
  -- The user who is signed in by a session, so that all sessions of a user can be ended.
  account_id text,
  consumed_at timestamptz(3),
  expires_at timestamptz(3) not null,
  primary key (model, id_hash)
);
create index on authorization_state (grant_id);
create index on authorization_state (uid);
create index on authorization_state (account_id) where account_id is not null;
create index on authorization_state (expires_at);

-- Private keys are encrypted under MASTHEAD_SECRET.
create table signing_keys (
  id text primary key,
  encrypted_key bytea not null,
  public_key text not null,
  created_at timestamptz(3) not null default now(),
  -- From this time on the key signs no more. It stays published until the last token that it signed has expired.
  retired_at timestamptz(3)
);

-- Failed sign-ins and mails that were sent, counted by account and by address of the caller.
create table sign_in_failures (
  key_hash bytea primary key,
  failures integer not null,
  first_at timestamptz(3) not null,
  -- Wrong passwords are counted for a quarter of an hour, mails for a day.
  window_seconds integer not null default 900
);
