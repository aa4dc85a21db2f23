-- Responses to POSTs that had an `Idempotency-Key`, for a retry of the same request within a day.

create table idempotency_records (
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
create index on idempotency_records (tenant_id, kept_at);
alter table idempotency_records enable row level security;
alter table idempotency_records force row level security;
create policy tenant on idempotency_records using (tenant_id = current_tenant());
