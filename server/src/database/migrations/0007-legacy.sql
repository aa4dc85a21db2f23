-- Hand-over to a tenant's legacy system: what is attached, and what waits to be handed over.

create table legacy_systems (
  tenant_id uuid primary key default current_tenant() references tenants,
  url text not null,
  -- The signing secret, encrypted under MASTHEAD_SECRET.
  sealed_secret bytea not null,
  attached_at timestamptz(3) not null default now(),
  -- How often in a row it gave no answer. From the third time on, one delivery at a time finds out whether it is back.
  silences integer not null default 0,
  resumes_at timestamptz
);

create table legacy_deliveries (
  tenant_id uuid not null default current_tenant() references legacy_systems,
  -- Taken while the head of the resource is locked: within a record it follows the order of the commits.
  sequence bigint not null generated always as identity,
  id text not null,
  resource text not null,
  record_id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null default now(),
  -- From when the days of trying count: from its creation, or the operator's last `retry`.
  waiting_since timestamptz(3) not null default now(),
  -- Counted when an attempt begins, so that an attempt that was given up cannot speak for a later one.
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- While an attempt is under way; a process that ends in the middle of it leaves the delivery to others after this time.
  claimed_until timestamptz,
  tried_at timestamptz(3),
  last_error text,
  failed_at timestamptz(3),
  primary key (tenant_id, sequence)
);
create index on legacy_deliveries (tenant_id, resource, record_id, sequence);
create index on legacy_deliveries (tenant_id, next_attempt_at, sequence) where failed_at is null;

alter table legacy_systems enable row level security;
alter table legacy_systems force row level security;
create policy tenant on legacy_systems using (tenant_id = (select current_tenant()));
alter table legacy_deliveries enable row level security;
alter table legacy_deliveries force row level security;
create policy tenant on legacy_deliveries using (tenant_id = (select current_tenant()));

-- graphile-worker announces every job by NOTIFY, which holds a lock of the whole cluster through the commit of the write.
-- Where this schema comes first in the search path nobody hears it: the workers ask for jobs instead.
create schema masthead_silence;
create function masthead_silence.pg_notify(channel text, payload text) returns void immutable language sql
  begin atomic end;

-- Has a worker look at the current tenant's deliveries once this transaction has committed, and not before `at`.
-- Each `name` is one job. That of a resource stays in its place in the line, that of `later` takes the new time.
create function wake_legacy_worker(name text, at timestamptz) returns void language plpgsql
set search_path = masthead_silence, pg_catalog, pg_temp as $$
declare
  tenant constant uuid := public.current_tenant();
begin
  loop
    -- Nothing is added when a worker takes this very job at this moment. It may have looked before this transaction
    -- commits, so another is needed, which the next round adds.
    exit when (graphile_worker.add_job(
      'legacy', json_build_object('tenantId', tenant), run_at => at, job_key => 'legacy:' || tenant || ':' || name,
      job_key_mode => case name when 'later' then 'replace' else 'preserve_run_at' end)).id is not null;
  end loop;
end $$;

-- Wakes a worker for every tenant that has a delivery which is due. Jobs see to that already; this finds what was left by
-- a process that was killed. Goes from tenant to tenant because row-level security shows only one at a time.
create function wake_legacy_worker_where_due() returns void language plpgsql as $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants order by id loop
    perform set_config('masthead.tenant', tenant::text, true);
    perform wake_legacy_worker('later', now())
    from legacy_systems
    where (resumes_at is null or resumes_at <= now()) and exists (
      select from legacy_deliveries as due
      where due.failed_at is null and due.next_attempt_at <= now() and not exists (
        select from legacy_deliveries as earlier
        where earlier.resource = due.resource and earlier.record_id = due.record_id and earlier.sequence < due.sequence
      )
    );
  end loop;
end $$;
