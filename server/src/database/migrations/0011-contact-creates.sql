-- Adds contacts of any tenants, each at the end of its list and with everything that a write stores: see records/write.ts. It
-- takes an array of rows, each with the text for search, its author and what the audit log shows. It leaves out the rows that it
-- cannot add at once, and the caller finds out why: the account does not exist, a legacy system needs a delivery, another
-- transaction has locked the list, or the list has no head yet.
--
-- The owner bypasses row-level security where the service runs under a role of its own, so every table is asked for the tenant of
-- the row. The lock timeout is short, so that no tenant waits long for another. The plan is kept while small tables grow, so it
-- must use their indexes.
create function create_contacts(records json) returns table (id uuid, body text)
security definer set search_path = public, pg_temp set lock_timeout = '100ms' set enable_seqscan = off
language plpgsql as $$
#variable_conflict use_column
begin
  return query
  with given as materialized (
    select *, gen_random_bytes(32) as key
    from rows from (
      json_to_recordset(records) as (
        tenant_id uuid, id uuid, account_id text, owner_id text, name text, first_name text, last_name text, phone text, phone2 text,
        extension text, hide_contact boolean, subs_only boolean, do_not_email boolean, email text, title text, notes text,
        deleted_at timestamptz, created_at timestamptz, updated_at timestamptz,
        search_text text, author json, after json)
    ) with ordinality
  ), possible as materialized (
    select given.*, row_number() over (partition by tenant_id order by ordinality) as nth
    from given
    -- Counted and not joined, so that no plan reads the whole tables.
    where (select count(*) from accounts where accounts.tenant_id = given.tenant_id and account_id = given.account_id) = 1
      and (select count(*) from legacy_systems where legacy_systems.tenant_id = given.tenant_id) = 0
  ), wanted as materialized (
    select tenant_id, count(*) as count from possible group by tenant_id
  ), free as materialized (
    select tenant_id from heads
    where resource = 'contacts' and tenant_id = any (array(select tenant_id from wanted))
    for update skip locked
  ), head as (
    update heads set last = last + wanted.count
    from wanted, free
    where heads.tenant_id = wanted.tenant_id and heads.tenant_id = free.tenant_id and resource = 'contacts'
    returning heads.tenant_id, resource, last - wanted.count as before
  ), stamped as (
    insert into stamps (tenant_id, resource, changed_in)
    select tenant_id, resource, pg_current_xact_id() from head
    on conflict (tenant_id, resource) do update set changed_in = excluded.changed_in
  ), added as (
    insert into contacts (tenant_id, position, id, account_id, owner_id, name, first_name, last_name, phone, phone2,
      extension, hide_contact, subs_only, do_not_email, email, title, notes, deleted_at, created_at, updated_at)
    select tenant_id, before + nth, id, account_id, owner_id, name, first_name, last_name, phone, phone2,
      extension, hide_contact, subs_only, do_not_email, email, title, notes, deleted_at, created_at, updated_at
    from possible join head using (tenant_id) order by ordinality
    returning tenant_id, id, position, class, body
  ), texts as (
    insert into search_texts (tenant_id, resource, position, class, text)
    select added.tenant_id, 'contacts', added.position, added.class, search_text
    from added join given using (tenant_id, id)
  ), counted as (
    insert into tallies (tenant_id, resource, facet, class, level, block, count)
    select tenant_id, 'contacts', '', class, level, position >> level, count(*)
    from added, unnest(array[10, 16, 22, 62]) as level
    group by tenant_id, class, level, position >> level
    on conflict (tenant_id, resource, facet, class, level, block) do update set count = tallies.count + excluded.count
  ), keys as (
    insert into audit_keys (tenant_id, resource, record_id, key)
    select tenant_id, 'contacts', id::text, key from added join given using (tenant_id, id)
  ), noted as (
    insert into audit_entries (tenant_id, author, action, resource, record_id, sealed)
    select tenant_id, author, 'created', 'contacts', id::text,
      audit_seal('{"before":null,"after":' || after::text || '}', key)
    from added join given using (tenant_id, id) order by ordinality
    returning tenant_id, number
  ), waiting as (
    insert into audit_waiting (tenant_id, number) select tenant_id, number from noted
  )
  select id, body from added;
end $$;

revoke execute on function create_contacts from public;
