-- A tenant's legacy system, and the deliveries that wait for it.

create table legacy_systems (
  tenant_id uuid primary key default current_tenant() references tenants,
  url text not null,
  -- The signing secret, encrypted under MASTHEAD_SECRET.
  sealed_secret bytea not null,
  attached_at timestamptz(3) not null default now(),
  -- How often in a row it did not respond. From the third time on, one delivery at a time finds out whether it is back.
  silences integer not null default 0,
  resumes_at timestamptz
);

create table legacy_deliveries (
  tenant_id uuid not null default current_tenant() references legacy_systems,
  -- The number is taken while the head of the resource is locked, so within a record it follows the order of the commits.
  sequence bigint not null generated always as identity,
  id text not null,
  resource text not null,
  record_id uuid not null,
  type text not null,
  body text not null,
  created_at timestamptz(3) not null default now(),
  -- The days of retries count from here: from its creation, or from the operator's last `retry`.
  waiting_since timestamptz(3) not null default now(),
  -- An attempt is counted when it begins, so that the result of one that was given up is not taken for that of a later one.
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  -- Set while an attempt is in flight. When a process ends in the middle of it, others take the delivery after this time.
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
create policy tenant on legacy_systems using (tenant_id = current_tenant());
alter table legacy_deliveries enable row level security;
alter table legacy_deliveries force row level security;
create policy tenant on legacy_deliveries using (tenant_id = current_tenant());

-- graphile-worker announces every job by NOTIFY, which holds a lock of the whole cluster through the commit of the write.
-- Where this schema comes first in the search path there is no NOTIFY, and the workers poll for jobs instead.
create schema masthead_silence;
create function masthead_silence.pg_notify(channel text, payload text) returns void immutable language sql
  begin atomic end;

-- Adds a job that looks at the tenant's deliveries once this transaction has committed, and not before `at`.
-- Each `name` is one job. The job of a resource stays in its place in the queue, the job `later` takes the new time.
create function wake_legacy_worker(tenant uuid, name text, at timestamptz) returns void language plpgsql
set search_path = masthead_silence, pg_catalog, pg_temp as $$
begin
  loop
    -- Nothing is added when a worker takes this very job at this moment. It may have looked before this transaction
    -- commits, so another is needed, which the next round adds.
    exit when (graphile_worker.add_job(
      'legacy', json_build_object('tenantId', tenant), run_at => at, job_key => 'legacy:' || tenant || ':' || name,
      job_key_mode => case name when 'later' then 'replace' else 'preserve_run_at' end)).id is not null;
  end loop;
end $$;

-- Adds a job for every tenant that has a delivery which is due. There usually is one already, but a process that was killed may
-- have left deliveries without. It goes from tenant to tenant because row-level security shows only one at a time.
create function wake_legacy_worker_where_due() returns void language plpgsql as $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants order by id loop
    perform set_config('masthead.tenant', tenant::text, true);
    perform wake_legacy_worker(tenant, 'later', now())
    from legacy_systems
    where tenant_id = tenant and (resumes_at is null or resumes_at <= now()) and exists (
      select from legacy_deliveries as due
      where due.tenant_id = tenant and due.failed_at is null and due.next_attempt_at <= now() and not exists (
        select from legacy_deliveries as earlier
        where earlier.tenant_id = tenant and earlier.resource = due.resource and earlier.record_id = due.record_id
          and earlier.sequence < due.sequence
      )
    );
  end loop;
end $$;

-- Counts the deliveries of all tenants that wait and that have failed, and looks at no more than `most` of each tenant. It goes
-- from tenant to tenant because row-level security shows only one at a time.
create function count_legacy_deliveries(most integer, out waiting bigint, out failed bigint, out oldest timestamptz)
language plpgsql as $$
declare
  tenant uuid;
  counted record;
begin
  waiting := 0;
  failed := 0;
  for tenant in select id from tenants loop
    perform set_config('masthead.tenant', tenant::text, true);
    continue when not exists (select from legacy_systems where tenant_id = tenant);
    select count(*) filter (where failed_at is null) as waiting, count(failed_at) as failed,
      min(created_at) filter (where failed_at is null) as oldest
    into counted
    from (
      select failed_at, created_at from legacy_deliveries where tenant_id = tenant order by sequence limit most
    ) as first;
    waiting := waiting + counted.waiting;
    failed := failed + counted.failed;
    oldest := least(oldest, counted.oldest);
  end loop;
end $$;
