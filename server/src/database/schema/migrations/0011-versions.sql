-- Every list has a version that each write of a record moves by one, under the lock of its head, so versions become visible in
-- order and without a gap. A record has the version of its last write. A cached response is as current as the versions that it
-- was read under, and a reader can ask for everything that came after a version.

alter table heads add column version bigint not null default 0;
-- The versions of several tenants are read by a function of the owner's, which shows nothing else of them.
alter table heads no force row level security;
update heads set version = last;

-- Not by an update, which row-level security would hold to one tenant.
alter table publications add column version bigint;
alter table publications alter column version type bigint using position, alter column version set not null;
alter table accounts add column version bigint;
alter table accounts alter column version type bigint using position, alter column version set not null;
alter table contacts add column version bigint;
alter table contacts alter column version type bigint using position, alter column version set not null;
alter table subscriptions add column version bigint;
alter table subscriptions alter column version type bigint using position, alter column version set not null;
alter table invoices add column version bigint;
alter table invoices alter column version type bigint using position, alter column version set not null;
alter table tasks add column version bigint;
alter table tasks alter column version type bigint using position, alter column version set not null;
create index on publications (tenant_id, version);
create index on accounts (tenant_id, version);
create index on contacts (tenant_id, version);
create index on subscriptions (tenant_id, version);
create index on invoices (tenant_id, version);
create index on tasks (tenant_id, version);

-- What is left of a record that was removed for good.
create table removed_records (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  version bigint not null,
  id uuid not null,
  removed_at timestamptz not null default now(),
  primary key (tenant_id, resource, version)
);
alter table removed_records enable row level security;
alter table removed_records force row level security;
create policy tenant on removed_records using (tenant_id = current_tenant());

-- For each of the tenants, in their order, a number that every write of its records moves.
create function versions_of(tenants uuid[]) returns bigint[] stable parallel safe language plpgsql security definer
  set search_path = public, pg_temp
as $$
begin
  return array(
    select coalesce((select sum(version) from heads where tenant_id = tenant), 0)::bigint
    from unnest(tenants) with ordinality as asked (tenant, place) order by place
  );
end $$;
revoke execute on function versions_of(uuid[]) from public;

-- A counter instead of transaction numbers, which each server counts by itself.
drop function stamp_identity();
drop table stamps;
alter table identity_revision drop column changed_in;
alter table identity_revision add column revision bigint not null default 0;

create function stamp_identity() returns void language sql
  begin atomic update identity_revision set revision = revision + 1; end;
