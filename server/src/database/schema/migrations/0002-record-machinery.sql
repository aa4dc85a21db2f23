-- What every table of records needs: the tenant of the transaction, list heads and tallies.

-- This fails when no tenant is set: a missing setting is an error, and after a transaction the setting is '', which is no uuid.
create function current_tenant() returns uuid stable parallel safe language sql
  return current_setting('masthead.tenant')::uuid;

-- The head of a list has one row per tenant and resource. Every write locks it first, so positions become visible in order.
create table heads (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  last bigint not null default 0,
  -- The number last tried for a business identifier that the service makes.
  last_number bigint not null default 0,
  primary key (tenant_id, resource)
);

-- How many records there are, by facet (a combination of filter values, '' for all records) and visibility class, in blocks of
-- 2^level positions. Each block holds 64 blocks of the next finer level, so the way from a page number to its place, and to the
-- total, reads a few dozen rows whatever the size of the tenant.
create table tallies (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  facet text not null,
  class smallint not null,
  level smallint not null,
  block bigint not null,
  count bigint not null,
  primary key (tenant_id, resource, facet, class, level, block)
) with (fillfactor = 70);

-- The second guard of every tenant. The first is that each statement names its tenant, by a parameter, which also keeps
-- PostgreSQL from planning for the tenant of the moment: see docs/decisions/0002-generic-plans.md.
alter table heads enable row level security;
alter table heads force row level security;
create policy tenant on heads using (tenant_id = current_tenant());
alter table tallies enable row level security;
alter table tallies force row level security;
create policy tenant on tallies using (tenant_id = current_tenant());
