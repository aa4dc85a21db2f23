-- The one door to search_texts: the positions, in order, of the current tenant's records in which every word occurs.
-- `fields` and `field_values` are further equality filters on the record.
--
-- Three ways lead there, and the wrong one costs seconds on a million rows:
-- inside one account the records are few, so look at each;
-- words without a trigram, or that a sample shows to be common: read in order and stop when enough are found;
-- everything else: the trigram index.
--
-- Each record is looked up by its position in a subquery of its own (`limit 1` keeps it one): as a join it may be
-- turned into a scan of the whole tenant for every match, when the tenant is newer than the table's statistics.
create function search_positions(
  resource text, words text[], classes smallint[], fields text[], field_values text[], after bigint, most bigint
) returns setof bigint stable security definer set search_path = public, pg_temp language plpgsql as $$
declare
  tenant constant uuid := current_tenant();
  last_position constant bigint := coalesce(
    (select last from heads where heads.tenant_id = tenant and heads.resource = search_positions.resource), 0);
  has_trigram constant boolean := exists (select from unnest(words) word where word ~ '[[:alnum:]]{3}');
  texts constant text := format('search_texts s where s.tenant_id = %L and s.resource = %L', tenant, resource);
  records text := format('%I r where r.tenant_id = %L and r.class = any (%L::smallint[])', resource, tenant, classes);
  contains text := '';
  is_like text := '';
  word text;
  common boolean;
begin
  for i in 1 .. cardinality(fields) loop
    records := records || format(' and r.%I::text = %L', fields[i], field_values[i]);
  end loop;
  foreach word in array words loop
    contains := contains || format(' and strpos(s.text, %L) > 0', word);
    is_like := is_like || format(' and s.text like %L', '%' || regexp_replace(word, '([\\%_])', '\\\1', 'g') || '%');
  end loop;

  if 'account_id' = any (fields) then
    return query execute format(
      'select r.position from %s and r.position > %s and (select true from %s and s.position = r.position %s limit 1) order by r.position limit %s',
      records, after, texts, contains, most);
    return;
  end if;

  if not has_trigram or last_position < 1000 then
    common := true;
  else
    execute format(
      'select count(*) >= 6 from (select s.position from generate_series(0, 127) i, lateral (select s.position from %s and s.position = 1 + i * %s / 128 %s limit 1) s) s where (select true from %s and r.position = s.position limit 1)',
      texts, last_position, contains, records) into common;
  end if;
  return query execute format(
    case when common
      then 'select s.position from %s and s.position > %s %s and (select true from %s and r.position = s.position limit 1) order by s.position limit %s'
      else 'with hits as materialized (select s.position from %s and s.position > %s %s) select h.position from hits h where (select true from %s and r.position = h.position limit 1) order by h.position limit %s'
    end,
    texts, after, case when common then contains else is_like end, records, most);
end $$;
