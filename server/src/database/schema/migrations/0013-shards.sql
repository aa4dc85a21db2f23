-- Tables of tenants may be distributed over several servers (`masthead shard init`). Their servers learn of the tenant by a statement
-- alone, not by a function that sets it, so what acts for several tenants sets each by one.
create function set_tenant(tenant text) returns void language plpgsql
as $$
begin
  execute format('set local masthead.tenant = %L', tenant);
end $$;

-- It acts as whoever calls it: Citus takes the writes of one transaction from one role.
create or replace function append_to_audit(tenant uuid, author json, writes json)
 returns void
 language plpgsql
 security invoker
 set search_path to 'public', 'pg_temp'
as $$
declare
  former constant text := current_setting('masthead.tenant', true);
  given record;
  held bytea;
  sealed bytea;
  noted bigint;
begin
  perform set_tenant(tenant::text);
  for given in
    select * from json_to_recordset(writes)
      as given (author json, action text, resource text, record_id text, before json, after json)
  loop
    sealed := null;
    if given.before is not null or given.after is not null then
      held := gen_random_bytes(32);
      insert into audit_keys (tenant_id, resource, record_id, key)
      values (tenant, given.resource, given.record_id, held)
      on conflict do nothing;
      if not found then
        select key into held from audit_keys
        where tenant_id = tenant and resource = given.resource and record_id = given.record_id;
      end if;
      sealed := audit_seal(
        '{"before":' || coalesce(given.before::text, 'null') || ',"after":' || coalesce(given.after::text, 'null') || '}', held);
    end if;
    insert into audit_entries (tenant_id, author, action, resource, record_id, sealed)
    values (tenant, coalesce(given.author, append_to_audit.author), given.action, given.resource, given.record_id, sealed)
    returning number into noted;
    insert into audit_waiting (tenant_id, number) values (tenant, noted);
  end loop;
  perform set_tenant(coalesce(former, ''));
end $$;

create or replace function count_legacy_deliveries(most integer, out waiting bigint, out failed bigint, out oldest timestamptz)
 returns record
 language plpgsql
as $$
declare
  tenant uuid;
  counted record;
begin
  waiting := 0;
  failed := 0;
  for tenant in select id from tenants loop
    perform set_tenant(tenant::text);
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

create or replace function wake_legacy_worker_where_due()
 returns void
 language plpgsql
as $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants order by id loop
    perform set_tenant(tenant::text);
    perform from legacy_systems
    where tenant_id = tenant and (resumes_at is null or resumes_at <= now()) and exists (
      select from legacy_deliveries as due
      where due.tenant_id = tenant and due.failed_at is null and due.next_attempt_at <= now() and not exists (
        select from legacy_deliveries as earlier
        where earlier.tenant_id = tenant and earlier.resource = due.resource and earlier.record_id = due.record_id
          and earlier.sequence < due.sequence
      )
    );
    if found then
      perform wake_legacy_worker(tenant, 'later', now());
    end if;
  end loop;
end $$;

-- The row of a shard is of a type of its own, so a function of a row takes its columns.
create function audit_digest(
  tenant uuid, number bigint, at timestamptz, author json, action text, resource text, record_id text, sealed bytea
) returns bytea immutable language plpgsql
as $$
begin
  return sha256(convert_to(json_build_array(
    tenant, number, to_char(at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'), author::text,
    action, resource, record_id, encode(sealed, 'hex'))::text, 'UTF8'));
end $$;

-- It begins with the entries that wait, whatever the planner believes of tables that are new: the log may be long.
create or replace function chain_audit(most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to 'public', 'pg_temp'
as $$
declare
  tenant uuid;
  entry audit_entries;
  place bigint;
  current bytea;
  numbers bigint[];
  hashes bytea[];
  total integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('masthead audit', 0)) then
    return 0;
  end if;
  for tenant in select distinct tenant_id from audit_waiting order by tenant_id loop
    exit when total >= most;
    perform set_tenant(tenant::text);
    select sequence, hash into place, current from audit_links where tenant_id = tenant order by sequence desc limit 1;
    if not found then
      place := 0;
      current := audit_beginning(tenant);
    end if;
    numbers := '{}';
    hashes := '{}';
    for entry in
      select audit_entries.* from audit_entries where audit_entries.tenant_id = tenant and audit_entries.number = any (array(
        select number from audit_waiting where tenant_id = tenant order by number limit most - total
      )) order by audit_entries.number
    loop
      current := sha256(current || audit_digest(
        tenant, entry.number, entry.at, entry.author, entry.action, entry.resource, entry.record_id, entry.sealed));
      numbers := numbers || entry.number;
      hashes := hashes || current;
    end loop;
    insert into audit_links (tenant_id, sequence, number, hash)
    select tenant, place + link.ordinality, link.number, link.hash
    from unnest(numbers, hashes) with ordinality as link (number, hash, ordinality);
    delete from audit_waiting where tenant_id = tenant and number = any (numbers);
    total := total + cardinality(numbers);
  end loop;
  return total;
end $$;

drop function audit_digest(audit_entries);

-- As versions_of, by a statement that may ask several servers.
create function versions_on_shards(tenants uuid[]) returns bigint[] stable parallel safe language plpgsql security definer
  set search_path = public, pg_temp
as $$
begin
  return array(
    select coalesce(found.version, 0)::bigint
    from unnest(tenants) with ordinality as asked (tenant, place) left join (
      select tenant_id, sum(version) as version from heads where tenant_id = any (tenants) group by tenant_id
    ) as found on tenant_id = tenant
    order by place
  );
end $$;
revoke execute on function versions_on_shards(uuid[]) from public;

-- A worker is waked by a statement of its own, so that it goes to the server that has the jobs.
create function wake_legacy_worker_when_due(tenant uuid) returns void language plpgsql
as $$
declare
  due timestamptz;
begin
  select greatest(next.at, resumes_at) into due from legacy_systems, (
    select due.next_attempt_at as at from legacy_deliveries as due
    where due.tenant_id = tenant and due.failed_at is null and not exists (
      select from legacy_deliveries as earlier
      where earlier.tenant_id = tenant and earlier.resource = due.resource and earlier.record_id = due.record_id
        and earlier.sequence < due.sequence)
    order by due.next_attempt_at, due.sequence limit 1
  ) as next
  where legacy_systems.tenant_id = tenant;
  if found then
    perform wake_legacy_worker(tenant, 'later', due);
  end if;
end $$;

-- Every later migration calls this for a table of tenants that it creates, before the table refers to another one of them.
create function distribute(relation regclass) returns void language plpgsql
as $$
begin
  if to_regclass('pg_dist_partition') is not null then
    execute format(
      'select create_distributed_table(%L, ''tenant_id'', colocate_with => ''heads'') from pg_dist_partition
        where logicalrelid = ''heads''::regclass and partmethod = ''h''', relation);
  end if;
end $$;
