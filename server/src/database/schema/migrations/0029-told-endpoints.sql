-- Stores an event, and a delivery to each endpoint that is told of it: to the one that is given, else to those that want its type and to the
-- legacy system, unless it is native. Returns its id, or null where nobody is told. Their locks keep the endpoints until the commit. Who
-- writes a list gives its name, under which a worker is woken: its writers wait for each other anyway.
--
-- The write statements call it where the tenant has endpoints. As parts of these they would cost every write, because PostgreSQL
-- sets up the whole of a statement before it runs any of it.
create function tell_endpoints(
  tenant uuid, list text, event text, record uuid, data text, is_native boolean default null, endpoint uuid default null
) returns text language plpgsql
as $$
declare
  target record;
  told bigint;
  event_id text;
  is_woken boolean := false;
begin
  for target in
    select id, disabled_at from webhook_endpoints
    where tenant_id = tenant and case
      when endpoint is not null then id = endpoint
      else kind = 'legacy' and is_native is not true or event = any (events) end
    for key share
  loop
    if told is null then
      insert into webhook_events (tenant_id, id, type, record_id, body)
      values (tenant, 'msg_' || replace(gen_random_uuid()::text, '-', ''), event, record,
        '{"type":"' || event || '","timestamp":"' || to_char(now() at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
          || '","data":' || data || '}')
      returning sequence, id into told, event_id;
    end if;
    insert into webhook_deliveries (tenant_id, endpoint_id, sequence, record_id) values (tenant, target.id, told, record);
    is_woken := is_woken or target.disabled_at is null;
  end loop;
  if is_woken then
    perform wake_webhook_worker(tenant, list, now());
  end if;
  return event_id;
end $$;
