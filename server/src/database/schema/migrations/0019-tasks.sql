-- Tasks can be listed, changed and marked as done. Nodes of before name none of the new columns when they add a task.
alter table tasks
  add column notes text,
  add column done_at timestamptz(3),
  add column updated_at timestamptz(3) not null default now();

drop index tasks_tenant_id_account_id_idx;
create index on tasks (tenant_id, account_id, class, position);
create index on tasks (tenant_id, user_id, class, position);
create index on tasks (tenant_id, class, due_date, position);
create index on tasks (tenant_id, class, done_at, position);
create index on tasks (tenant_id, class, created_at, position);
create index on tasks (tenant_id, class, updated_at, position);
-- What somebody has to do next.
create index on tasks (tenant_id, user_id, class, due_date, position);

-- Bodies get what is new, and tasks are counted by their users. Row-level security shows one tenant at a time.
do $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants loop
    perform set_tenant(tenant::text);
    update tasks as record set updated_at = created_at, body = (
      select row_to_json(shown)::text from (
        select record.id as "id", record.account_id as "accountId", record.title as "title", record.due_date as "dueDate",
          record.user_id as "userId", record.priority as "priority", record.type as "type", null::text as "notes",
          null::text as "doneAt", record.route as "route",
          to_char(record.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "createdAt",
          to_char(record.created_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "updatedAt"
      ) as shown
    ) where tenant_id = tenant;
    insert into tallies (tenant_id, resource, facet, class, level, block, count)
    select tenant_id, 'tasks', 'userId=' || user_id, class, level, position >> level, count(*)
    from tasks, unnest(array[10, 16, 22, 62]) as level
    where tenant_id = tenant
    group by tenant_id, user_id, class, level, position >> level;
  end loop;
  perform set_tenant('');
end $$;
