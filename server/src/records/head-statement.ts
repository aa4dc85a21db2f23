/**
 * SQL: moves the head of a list, which it locks until the commit. The first write after a start of the server, or in another place,
 * adds a timeline: the version before it, and a random name. A new head has one from its first write on.
 */
export const moveHead = (
  resource: string,
  { tenant, positions, versions }: { tenant: string; positions: string; versions: string },
): string => `insert into heads (tenant_id, resource, last, version, timelines)
  values (${tenant}, '${resource}', ${positions}, ${versions}, array['0:' || left(gen_random_uuid()::text, 8)])
  on conflict (tenant_id, resource) do update set
    last = heads.last + excluded.last,
    version = heads.version + excluded.version,
    source = source_of(heads.tenant_id),
    timelines = case when heads.source = source_of(heads.tenant_id) then heads.timelines
      else heads.timelines || (heads.version::text || ':' || split_part(excluded.timelines[1], ':', 2)) end
  returning last - ${versions} as position, version - ${versions} as version`
