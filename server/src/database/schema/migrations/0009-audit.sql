-- The audit log: who did what, when, from where, before and after. Entries are only added. A chain of hashes for each tenant
-- shows whether an entry was changed, removed or inserted later. Entries of no tenant have a chain of their own, under the
-- tenant 0.

create extension if not exists pgcrypto;

-- Values are encrypted with the key of their record. Deleting the key erases them, and the chain stays valid.
create table audit_keys (
  tenant_id uuid not null default current_tenant(),
  resource text not null,
  record_id text not null,
  key bytea not null check (length(key) = 32),
  primary key (tenant_id, resource, record_id)
);

create table audit_entries (
  tenant_id uuid not null default current_tenant(),
  number bigint not null generated always as identity,
  at timestamptz(3) not null default clock_timestamp(),
  author json not null,
  action text not null,
  resource text not null,
  record_id text not null,
  -- An initialisation vector of 16 bytes and {"before", "after"} encrypted by AES-256-CBC, or null where there are no values.
  sealed bytea,
  primary key (tenant_id, number)
);

-- The chain. Each hash covers an entry and the hash before it.
create table audit_links (
  tenant_id uuid not null default current_tenant(),
  sequence bigint not null,
  number bigint not null,
  hash bytea not null check (length(hash) = 32),
  primary key (tenant_id, sequence),
  unique (tenant_id, number)
);

-- Entries that are not in the chain yet. A row is written with each entry, because the order of numbers is not the order of
-- commits. The table holds no values and is read for all tenants at once, so it has no row-level security.
create table audit_waiting (
  tenant_id uuid not null,
  number bigint not null,
  primary key (tenant_id, number)
);

alter table audit_keys enable row level security;
alter table audit_keys force row level security;
create policy tenant on audit_keys using (tenant_id = current_tenant());

-- Tells whether a probe made this tenant. The slug of such a tenant follows from its id, so nobody can choose it.
create function is_canary(tenant uuid) returns boolean stable set search_path = public, pg_temp language plpgsql as $$
begin
  return exists (
    select from tenants
    where id = tenant and slug = 'canary-' || left(encode(sha256(convert_to(id::text, 'UTF8')), 'hex'), 32));
end $$;

-- No policy allows anybody to change an entry or a link. They can be deleted only for the tenants that a probe makes.
do $$
declare
  name text;
begin
  foreach name in array array['audit_entries', 'audit_links'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy tenant on %I for select using (tenant_id = current_tenant())', name);
    execute format('create policy append on %I for insert with check (tenant_id = current_tenant())', name);
    execute format(
      'create policy canary on %I for delete using (tenant_id = current_tenant() and is_canary(current_tenant()))', name);
    execute format('revoke update, truncate on %I from current_user', name);
  end loop;
end $$;

create function audit_seal(plain text, key bytea) returns bytea volatile language plpgsql as $$
declare
  start constant bytea := gen_random_bytes(16);
begin
  return start || encrypt_iv(convert_to(plain, 'UTF8'), key, start, 'aes-cbc/pad:pkcs');
end $$;

-- Returns null when this is not the key: the record was erased, and perhaps created again under the same id.
create function audit_open(sealed bytea, key bytea) returns text immutable language plpgsql as $$
begin
  return convert_from(
    decrypt_iv(substr(sealed, 17), key, substr(sealed, 1, 16), 'aes-cbc/pad:pkcs'), 'UTF8')::json::text;
exception when others then
  return null;
end $$;

-- Adds entries about a tenant, which may be another than that of the transaction, and commits with it. An entry may have an
-- author of its own, so that the writes of several callers can be added in one call.
create function append_to_audit(tenant uuid, author json, writes json) returns void
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

create function audit_digest(entry audit_entries) returns bytea immutable language plpgsql as $$
begin
  return sha256(convert_to(json_build_array(
    entry.tenant_id, entry.number, to_char(entry.at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'), entry.author::text,
    entry.action, entry.resource, entry.record_id, encode(entry.sealed, 'hex'))::text, 'UTF8'));
end $$;

-- Returns what stands for the hash before the first entry.
create function audit_beginning(tenant uuid) returns bytea immutable parallel safe language sql
  return sha256(convert_to('masthead audit ' || tenant::text, 'UTF8'));

-- Adds up to `most` waiting entries to their chains and returns how many it added. One process does it at a time.
create function chain_audit(most integer) returns integer
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
      select audit_entries.* from audit_waiting
      join audit_entries on audit_entries.tenant_id = tenant and audit_entries.number = audit_waiting.number
      where audit_waiting.tenant_id = tenant order by audit_waiting.number limit most - total
    loop
      current := sha256(current || audit_digest(entry));
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

-- A role that may only connect to the database cannot write into a log.
revoke execute on function append_to_audit, chain_audit from public;
