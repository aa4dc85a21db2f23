-- Responses to POSTs that had an `Idempotency-Key`, for a retry of the same request within a day.

create table kept_answers (
  tenant_id uuid not null default current_tenant() references tenants,
  -- The sender: a service token with its rotations, a membership, or a grant.
  principal text not null,
  key text not null,
  -- SHA-256 of method, path and body.
  request bytea not null check (length(request) = 32),
  status smallint not null,
  headers json not null,
  body text not null,
  kept_at timestamptz(3) not null default now(),
  primary key (tenant_id, principal, key)
);
create index on kept_answers (tenant_id, kept_at);
alter table kept_answers enable row level security;
alter table kept_answers force row level security;
create policy tenant on kept_answers using (tenant_id = (select current_tenant()));
