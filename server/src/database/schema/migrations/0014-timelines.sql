-- Whoever keeps a copy asks for what came after a version. That version may be of writes that the database has lost since: by a
-- failover to a standby that lacked them, or by a backup that was restored. So each list keeps the versions at which its history may have
-- forked: the first write after a start of its server, or in another place, notes the version before it, under a random name.
alter table heads add column source text not null default '';
alter table heads add column timelines text[] not null default '{}';

-- Where a list is written: the start of the server, and the file of the table, which names the database and is another one after a restore
-- into the same server. Its value does not change as long as a session lasts, and Citus takes nothing else in an upsert, hence immutable;
-- the argument has the server evaluate it that has the list, and each time.
create function source_of(tenant uuid) returns text immutable parallel safe language plpgsql
as $$
begin
  return extract(epoch from pg_postmaster_start_time()) || ' ' || pg_relation_filepath('public.heads');
end $$;
