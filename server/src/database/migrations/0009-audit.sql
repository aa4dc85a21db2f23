-- The audit log: who did what, when, from where, before and after. Entries are only ever added. A chain of hashes for
-- each tenant shows whether one was changed, removed or put in later; what belongs to no tenant has a chain of its own,
-- under the tenant 0.

create extension if not exists pgcrypto;

-- Values are encrypted under the key of their record: whoever deletes the key erases them, and the chain still holds.
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
  -- 16 bytes to begin with and {"before", "after"}, by AES-256-CBC; null where there are no values.
  sealed bytea,
  primary key (tenant_id, number)
);

-- The chain: each hash covers an entry and the hash before it.
create table audit_links (
  tenant_id uuid not null default current_tenant(),
  sequence bigint not null,
  number bigint not null,
  hash bytea not null check (length(hash) = 32),
  primary key (tenant_id, sequence),
  unique (tenant_id, number)
);

-- Entries that are not in the chain yet. Written with them, because the order of numbers is not that of commits. It holds
-- nothing of anybody and is read for all tenants at once, so it carries no row-level security.
create table audit_waiting (
  tenant_id uuid not null,
  number bigint not null,
  primary key (tenant_id, number)
);

alter table audit_keys enable row level security;
alter table audit_keys force row level security;
create policy tenant on audit_keys using (tenant_id = (select current_tenant()));

-- No policy lets anybody change an entry or a link, or delete one of another tenant than those that a probe makes, whose
-- slug follows from the id: nobody chooses it.
do $$
declare
  name text;
begin
  foreach name in array array['audit_entries', 'audit_links'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy tenant on %I for select using (tenant_id = (select current_tenant()))', name);
    execute format('create policy append on %I for insert with check (tenant_id = (select current_tenant()))', name);
    execute format(
      'create policy canary on %I for delete using (tenant_id = (select current_tenant())
        and exists (select from tenants where id = (select current_tenant())
          and slug = ''canary-'' || left(encode(sha256(convert_to(id::text, ''UTF8'')), ''hex''), 32)))', name);
    execute format('revoke update, truncate on %I from current_user', name);
  end loop;
end $$;

create function audit_seal(plain text, key bytea) returns bytea volatile language plpgsql as $$
declare
  start constant bytea := gen_random_bytes(16);
begin
  return start || encrypt_iv(convert_to(plain, 'UTF8'), key, start, 'aes-cbc/pad:pkcs');
end $$;

-- Null when this is not the key: the record was erased, and perhaps came again under the same id.
create function audit_open(sealed bytea, key bytea) returns text immutable language plpgsql as $$
begin
  return convert_from(
    decrypt_iv(substr(sealed, 17), key, substr(sealed, 1, 16), 'aes-cbc/pad:pkcs'), 'UTF8')::json::text;
exception when others then
  return null;
end $$;

-- Adds entries about a tenant, whichever the transaction is for, and commits with it.
create function append_to_audit(tenant uuid, author json, writes json) returns void
security definer set search_path = public, pg_temp language plpgsql as $$
declare
  former constant text := current_setting('masthead.tenant', true);
begin
  perform set_config('masthead.tenant', tenant::text, true);
  insert into audit_keys (resource, record_id, key)
  select distinct on (resource, record_id) resource, record_id, gen_random_bytes(32)
  from json_to_recordset(writes) as given (resource text, record_id text, before json, after json)
  where before is not null or after is not null
  on conflict do nothing;
  with noted as (
    insert into audit_entries (author, action, resource, record_id, sealed)
    select append_to_audit.author, given.action, given.resource, given.record_id,
      case when given.before is not null or given.after is not null then audit_seal(
        '{"before":' || coalesce(given.before::text, 'null') || ',"after":' || coalesce(given.after::text, 'null') || '}',
        (select key from audit_keys where resource = given.resource and record_id = given.record_id
          and tenant_id = append_to_audit.tenant))
      end
    from json_to_recordset(writes) as given (action text, resource text, record_id text, before json, after json)
    returning number
  )
  insert into audit_waiting (tenant_id, number) select tenant, number from noted;
  perform set_config('masthead.tenant', coalesce(former, ''), true);
end $$;

create function audit_digest(entry audit_entries) returns bytea immutable language plpgsql as $$
begin
  return sha256(convert_to(json_build_array(
    entry.tenant_id, entry.number, json_timestamp(entry.at), entry.author::text, entry.action, entry.resource,
    entry.record_id, encode(entry.sealed, 'hex'))::text, 'UTF8'));
end $$;

-- The hash before the first.
create function audit_beginning(tenant uuid) returns bytea immutable parallel safe language sql
  return sha256(convert_to('masthead audit ' || tenant::text, 'UTF8'));

-- Puts so many waiting entries into their chains; answers how many. One process at a time.
create function chain_audit(most integer) returns integer
security definer set search_path = public, pg_temp language plpgsql as $$
declare
  tenant uuid;
  entry audit_entries;
  place bigint;
  current bytea;
  chained bigint[];
  total integer := 0;
begin
  if not pg_try_advisory_xact_lock(hashtextextended('masthead audit', 0)) then
    return 0;
  end if;
  for tenant in select distinct tenant_id from audit_waiting order by tenant_id loop
    exit when total >= most;
    perform set_config('masthead.tenant', tenant::text, true);
    place := 0;
    current := audit_beginning(tenant);
    select sequence, hash into place, current from (
      select sequence, hash from audit_links where tenant_id = tenant
      union all select 0, audit_beginning(tenant)
      order by 1 desc limit 1) as last;
    chained := '{}';
    for entry in
      select audit_entries.* from audit_waiting join audit_entries using (tenant_id, number)
      where audit_waiting.tenant_id = tenant order by number limit most - total
    loop
      place := place + 1;
      current := sha256(current || audit_digest(entry));
      insert into audit_links (sequence, number, hash) values (place, entry.number, current);
      chained := chained || entry.number;
    end loop;
    delete from audit_waiting where tenant_id = tenant and number = any (chained);
    total := total + cardinality(chained);
  end loop;
  return total;
end $$;

-- Who may connect to the database and no more cannot write into anybody's log.
revoke execute on function append_to_audit, chain_audit from public;

-- The log of the installation belongs to nobody who could be deleted.
alter table tenants add check (id <> '00000000-0000-0000-0000-000000000000');
