-- What every write passes, at less cost.

-- As before, but it finds the end of a chain by the index, however long the chain is, and adds links all at once.
create or replace function chain_audit(most integer) returns integer
security definer set search_path = public, pg_temp language plpgsql as $$
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
    perform set_config('masthead.tenant', tenant::text, true);
    select sequence, hash into place, current from audit_links where tenant_id = tenant order by sequence desc limit 1;
    if not found then
      place := 0;
      current := audit_beginning(tenant);
    end if;
    numbers := '{}';
    hashes := '{}';
    for entry in
      select audit_entries.* from audit_waiting join audit_entries using (tenant_id, number)
      where audit_waiting.tenant_id = tenant order by number limit most - total
    loop
      current := sha256(current || audit_digest(entry));
      numbers := numbers || entry.number;
      hashes := hashes || current;
    end loop;
    insert into audit_links (sequence, number, hash)
    select place + link.ordinality, link.number, link.hash
    from unnest(numbers, hashes) with ordinality as link (number, hash, ordinality);
    delete from audit_waiting where tenant_id = tenant and number = any (numbers);
    total := total + cardinality(numbers);
  end loop;
  return total;
end $$;

-- As before, at two thirds of the cost for one entry and no more for many; and what several did can be told in one call.
create or replace function append_to_audit(tenant uuid, author json, writes json) returns void
security definer set search_path = public, pg_temp language plpgsql as $$
declare
  former constant text := current_setting('masthead.tenant', true);
  given record;
  held bytea;
  sealed bytea;
  noted bigint;
begin
  perform set_config('masthead.tenant', tenant::text, true);
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
  perform set_config('masthead.tenant', coalesce(former, ''), true);
end $$;
