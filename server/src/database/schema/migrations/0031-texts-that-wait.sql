-- Texts wait in the index of searches until housekeeping puts some thousands of them there at once, at 1.8 KB each. Where tables are sharded
-- nobody but PostgreSQL does.
do $$
begin
  if to_regclass('pg_dist_partition') is null then
    alter index search_texts_by_text set (gin_pending_list_limit = 32768);
  end if;
end $$;
