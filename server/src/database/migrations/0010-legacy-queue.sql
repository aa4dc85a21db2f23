-- What waits for legacy systems and what has failed, of all tenants; at most `most` of each are looked at. Goes from
-- tenant to tenant because row-level security shows only one at a time.
create function count_legacy_deliveries(most integer, out waiting bigint, out failed bigint, out oldest timestamptz)
language plpgsql as $$
declare
  tenant uuid;
  counted record;
begin
  waiting := 0;
  failed := 0;
  for tenant in select id from tenants loop
    perform set_config('masthead.tenant', tenant::text, true);
    continue when not exists (select from legacy_systems);
    select count(*) filter (where failed_at is null) as waiting, count(failed_at) as failed,
      min(created_at) filter (where failed_at is null) as oldest
    into counted
    from (select failed_at, created_at from legacy_deliveries order by sequence limit most) as first;
    waiting := waiting + counted.waiting;
    failed := failed + counted.failed;
    oldest := least(oldest, counted.oldest);
  end loop;
end $$;
