-- Search in the records of a tenant.

create extension if not exists btree_gin;
create extension if not exists pg_trgm;

-- The normalised text in which search looks. Row-level security is not forced here: the function below belongs to the owner of
-- the table and reads it with the trigram index. Under row-level security only leakproof operators use an index, and LIKE is
-- not leakproof.
create table search_texts (
  tenant_id uuid not null default current_tenant(),
  resource text not null,
  position bigint not null,
  -- A copy of the record's class: a search for a common word would otherwise look up the class of thousands of records.
  class smallint not null,
  text text not null,
  primary key (tenant_id, resource, position)
);
create index on search_texts using gin (tenant_id, resource, text gin_trgm_ops);
alter table search_texts enable row level security;
create policy tenant on search_texts using (tenant_id = current_tenant());

-- Returns the positions, in order, of the current tenant's records in which every word occurs. No other function reads
-- search_texts for a caller. `fields` and `field_values` are further equality filters on the record.
--
-- There are three ways to search, and the wrong one costs seconds on a million rows:
-- 1. In an account with few records, it looks at each of them.
-- 2. For words without a trigram, and words that are common in a sample of the texts, it reads in order and stops when enough
--    are found.
-- 3. For everything else it uses the trigram index with the part of each word that is rarest in the sample, because the index
--    looks up every trigram it is given.
--
-- Each record is looked up by its position in a subquery of its own, which `limit 1` keeps from becoming a join: PostgreSQL may
-- plan a join as a scan of the whole tenant for every match, when the tenant is newer than the table's statistics.
create function search_positions(
  resource text, words text[], classes smallint[], fields text[], field_values text[], after bigint, most bigint
) returns setof bigint stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  tenant constant uuid := current_tenant();
  texts text := format(
    'search_texts s where s.tenant_id = %L and s.resource = %L and s.class = any (%L::smallint[]) and s.position > %s',
    tenant, resource, classes, after);
  records text := format('%I r where r.tenant_id = %L and r.class = any (%L::smallint[])', resource, tenant, classes);
  sample constant text[] := search_sample(resource);
  word text;
  is_small boolean := false;
begin
  foreach word in array words loop
    texts := texts || format(' and strpos(s.text, %L) > 0', word);
  end loop;
  for i in 1 .. cardinality(fields) loop
    records := records || format(' and r.%I::text = %L', fields[i], field_values[i]);
  end loop;

  if 'account_id' = any (fields) then
    execute format('select count(*) < 2000 from (select from %s limit 2000) as first_ones', records) into is_small;
  end if;
  if is_small then
    return query execute format(
      'select r.position from %s and r.position > %s and (select true from %s and s.position = r.position limit 1) order by r.position limit %s',
      records, after, texts, most);
    return;
  end if;

  if cardinality(fields) > 0 then
    texts := texts || format(' and (select true from %s and r.position = s.position limit 1)', records);
  end if;
  if search_is_common(words, sample) then
    return query execute format('select s.position from %s order by s.position limit %s', texts, most);
  else
    foreach word in array words loop
      texts := texts || format(' and s.text like %L', search_pattern(search_rarest_part(word, sample)));
    end loop;
    return query execute format(
      'with hits as materialized (select s.position from %s) select position from hits order by position limit %s', texts, most);
  end if;
end $$;

-- Returns the texts of up to 128 records, evenly spread.
create function search_sample(resource text) returns text[] stable security definer set search_path = public, pg_temp
language plpgsql as $$
#variable_conflict use_column
declare
  tenant constant uuid := current_tenant();
begin
  return (
    select coalesce(array_agg(s.text), '{}')
    from (select greatest(last, 128) as last from heads where tenant_id = tenant and resource = search_sample.resource) as head,
      generate_series(0, 127) as number,
      lateral (
        select text from search_texts
        where tenant_id = tenant and resource = search_sample.resource and position = 1 + number * head.last / 128
        limit 1
      ) as s
  );
end $$;

create function search_is_common(words text[], sample text[]) returns boolean immutable parallel safe language sql as $$
  select not exists (select from unnest(words) as word where word ~ '[[:alnum:]]{3}')
    or (select count(*) > 5 from unnest(sample) as text
        where not exists (select from unnest(words) as word where strpos(text, word) = 0))
$$;

-- Returns the eight characters of a long word that occur least often in the sample and hold a trigram, or else the whole word.
create function search_rarest_part(word text, sample text[]) returns text immutable parallel safe language sql as $$
  select coalesce((
    select part
    from (select substr(word, start, 8) as part from generate_series(1, length(word) - 7, 2) as start) as parts
    where part ~ '[[:alnum:]]{3}'
    order by (select count(*) from unnest(sample) as text where strpos(text, part) > 0)
    limit 1
  ), word)
$$;

create function search_pattern(part text) returns text immutable parallel safe language sql
  return '%' || regexp_replace(part, '([\\%_])', '\\\1', 'g') || '%';

revoke execute on function search_sample from public;
