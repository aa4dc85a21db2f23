-- A read may be answered by a replica that has every write of the tenant's lists that the primary has. Versions of different
-- sources cannot be compared: of a server before and after a restart, a failover or a restore. So the source of the primary's own
-- is noted here, and a replica that does not follow it lacks the note.
alter table installation add column source text not null default '';

-- For each of the tenants, in their order, the versions of its lists.
create function list_versions_of(tenants uuid[]) returns json[] stable parallel safe language plpgsql security definer
  set search_path = public, pg_temp
as $$
begin
  return array(
    select coalesce((select json_object_agg(resource, version order by resource) from heads where tenant_id = tenant), '{}')
    from unnest(tenants) with ordinality as asked (tenant, place) order by place
  );
end $$;
revoke execute on function list_versions_of(uuid[]) from public;

-- Whether this server follows the source, as a replica, and has at least these versions of the tenant's lists.
create function is_replica_with(tenant uuid, versions json, asked_source text) returns boolean stable language plpgsql
as $$
begin
  return pg_is_in_recovery()
    and (select source from installation) = asked_source
    and not exists (
      select from json_each_text(versions) as asked (list, version)
      where asked.version::bigint > coalesce((
        select heads.version from heads where heads.tenant_id = tenant and heads.resource = asked.list
      ), 0)
    );
end $$;
