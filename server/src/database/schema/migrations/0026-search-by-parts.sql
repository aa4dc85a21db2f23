-- Which words are common, and which part of a word is rare, is decided by the service, which remembers a sample of each list: to take one
-- for every search cost more than the search.
drop function search_positions(text, text[], smallint[], text[], text[], bigint, bigint);
drop function search_is_common(text[], text[]);
drop function search_rarest_part(text, text[]);
drop function search_sample(text);

-- Returns the positions, in order, of the current tenant's records in which every word occurs. No other function reads
-- search_texts for a caller. `parts` are parts of the words, or null; `fields` and `field_values` are further equality filters on the record.
--
-- There are three ways to search, and the wrong one costs seconds on a million rows:
-- 1. In an account with few records, it looks at each of them.
-- 2. Without `parts`, it reads in order and stops when enough are found.
-- 3. With `parts`, it uses the trigram index for these.
--
-- Each record is looked up by its position in a subquery of its own, which `limit 1` keeps from becoming a join: PostgreSQL may
-- plan a join as a scan of the whole tenant for every match, when the tenant is newer than the table's statistics.
create function search_positions(
  resource text, words text[], parts text[], classes smallint[], fields text[], field_values text[], after bigint, most bigint
) returns setof bigint stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  tenant constant uuid := current_tenant();
  texts text := format(
    'search_texts s where s.tenant_id = %L and s.resource = %L and s.class = any (%L::smallint[]) and s.position > %s',
    tenant, resource, classes, after);
  records text := format('%I r where r.tenant_id = %L and r.class = any (%L::smallint[])', resource, tenant, classes);
  word text;
  part text;
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
  if parts is null then
    return query execute format('select s.position from %s order by s.position limit %s', texts, most);
  else
    foreach part in array parts loop
      texts := texts || format(' and s.text like %L', search_pattern(part));
    end loop;
    return query execute format(
      'with hits as materialized (select s.position from %s) select position from hits order by position limit %s', texts, most);
  end if;
end $$;

-- A search reads what waits to be put into the index one after the other, up to thousands of texts, and a write that finds the list full puts
-- all of it into the index. So somebody does that every second.
create function tidy_search() returns void security definer set search_path = public, pg_temp language plpgsql as $$
begin
  perform gin_clean_pending_list('search_texts_tenant_id_resource_text_idx');
end $$;
revoke execute on function tidy_search() from public;
