-- Every request asks for versions, mostly those of one tenant: a statement for each of a few takes 48 µs for one, and one statement that sets up a
-- join, an order and an array 128. For 20 tenants they take 282 and 198, so many are asked for together.
create or replace function versions_of(tenants uuid[]) returns bigint[]
stable security definer parallel safe set search_path = public, pg_temp language plpgsql as $$
#variable_conflict use_column
declare
  tenant uuid;
  version bigint;
  versions bigint[] := '{}';
begin
  if cardinality(tenants) > 8 then
    return array(
      select coalesce((select sum(heads.version) from heads where tenant_id = tenant), 0)::bigint
      from unnest(tenants) with ordinality as asked (tenant, place) order by place
    );
  end if;
  foreach tenant in array tenants loop
    select coalesce(sum(heads.version), 0) into version from heads where tenant_id = tenant;
    versions := versions || version;
  end loop;
  return versions;
end $$;
