-- The patterns of all words come from one expression instead of a statement, which was a tenth of what a search for a rare word takes PostgreSQL. No
-- word holds a space.
create or replace function search_positions(
  resource text, words text[], parts text[], classes smallint[], fields text[], field_values text[], after bigint, most bigint
) returns setof bigint stable security definer set search_path = public, pg_temp
set plan_cache_mode = force_generic_plan set enable_seqscan = off language plpgsql as $$
declare
  tenant constant uuid := current_tenant();
  list constant bigint := uuid_hash_extended(tenant, hashtextextended(resource, 0));
  pattern constant text := search_pattern(parts[1]);
  other_pattern constant text := coalesce(search_pattern(parts[2]), '%');
  patterns constant text[] := string_to_array(replace(search_pattern(array_to_string(words, ' ')), ' ', '% %'), ' ');
  texts text;
  records text;
  word text;
  part text;
  is_small boolean := false;
begin
  -- Where tables are sharded, a statement finds its server by `tenant_id =`.
  if cardinality(fields) = 0 and cardinality(parts) <= 2 and to_regclass('pg_dist_partition') is null then
    return query
      select s.position from search_texts s
      where uuid_hash_extended(s.tenant_id, hashtextextended(s.resource, 0)) = list
        and s.text like pattern and s.text like other_pattern and s.text like all (patterns)
        and s.tenant_id is not distinct from tenant and s.resource is not distinct from search_positions.resource
        and s.class = any (classes) and s.position > after
      order by s.position limit most;
    return;
  end if;

  texts := format(
    'search_texts s where s.tenant_id = %L and s.resource = %L and s.class = any (%L::smallint[]) and s.position > %s',
    tenant, resource, classes, after);
  records := format('%I r where r.tenant_id = %L and r.class = any (%L::smallint[])', resource, tenant, classes);
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
    texts := texts || format(' and uuid_hash_extended(s.tenant_id, hashtextextended(s.resource, 0)) = %s', list);
    foreach part in array parts loop
      texts := texts || format(' and s.text like %L', search_pattern(part));
    end loop;
    return query execute format(
      'with hits as materialized (select s.position from %s) select position from hits order by position limit %s', texts, most);
  end if;
end $$;
