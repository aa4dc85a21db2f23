-- An endpoint that asked to be left alone, or whose deliveries are being put back, is left alone whatever becomes of attempts in flight:
-- `resumes_at` only says when one that does not respond is tried again.
alter table webhook_endpoints add column rests_until timestamptz;

-- When the endpoint is to be told of something next; null when nothing waits that nothing holds back.
create or replace function webhook_due_at(tenant uuid, endpoint uuid) returns timestamptz stable language plpgsql
as $$
begin
  return (
    select greatest(next.at, target.resumes_at, target.rests_until) from webhook_endpoints as target, (
      select due.next_attempt_at as at from webhook_deliveries as due
      where due.tenant_id = tenant and due.endpoint_id = endpoint and due.settled_at is null and due.failed_at is null and not exists (
        select from webhook_deliveries as earlier
        where earlier.tenant_id = tenant and earlier.endpoint_id = endpoint and earlier.record_id = due.record_id
          and earlier.settled_at is null and earlier.sequence < due.sequence)
      order by due.next_attempt_at, due.sequence limit 1
    ) as next
    where target.tenant_id = tenant and target.id = endpoint and target.disabled_at is null
  );
end $$;
