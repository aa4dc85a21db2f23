-- What imports, their undo and exports stand on.

-- Tasks become a list like the others, so that one way of writing serves them all and an export keeps their order.
-- The owner is held by forced row-level security, and these rows belong to many tenants.
alter table tasks no force row level security;
alter table heads no force row level security;
alter table tallies no force row level security;
alter table tasks add column position bigint;
update tasks set position = numbered.position
from (
  select tenant_id, id, row_number() over (partition by tenant_id order by created_at, id) as position from tasks
) as numbered
where tasks.tenant_id = numbered.tenant_id and tasks.id = numbered.id;
insert into heads (tenant_id, resource, last) select tenant_id, 'tasks', count(*) from tasks group by tenant_id;
insert into tallies (tenant_id, resource, facet, class, level, block, count)
select tenant_id, 'tasks', '', 0, level, position >> level, count(*)
from tasks, unnest(array[10, 16, 22, 62]) as level
group by tenant_id, level, position >> level;
alter table tasks
  alter column position set not null,
  add column class smallint not null generated always as (0) stored,
  add column body text not null generated always as (
    '{"id":"' || id::text || '"'
    || ',"accountId":' || json_text(account_id)
    || ',"title":' || json_text(title)
    || ',"dueDate":' || json_date(due_date)
    || ',"userId":' || json_text(user_id)
    || ',"route":' || json_text(route)
    || '}'
  ) stored,
  add unique (tenant_id, class, position);
alter table tasks force row level security;
alter table heads force row level security;
alter table tallies force row level security;

-- An undo removes records, and the database looks for references to each.
create index on tasks (tenant_id, account_id);
create index on subscriptions (tenant_id, renewed_from_subs_id) where renewed_from_subs_id is not null;
create index on accounts (tenant_id, primary_publication_id) where primary_publication_id is not null;

create table imports (
  tenant_id uuid not null default current_tenant() references tenants,
  id uuid not null,
  started_at timestamptz(3) not null default now(),
  -- Null while it runs, and for ever when it was interrupted.
  ended_at timestamptz(3),
  undone_at timestamptz(3),
  -- What the summary shows.
  files json not null default '[]',
  primary key (tenant_id, id)
);

-- The positions that an import gave to the records it created: all in between are its own.
create table import_creations (
  tenant_id uuid not null default current_tenant() references tenants,
  import_id uuid not null,
  resource text not null,
  first bigint not null,
  last bigint not null,
  primary key (tenant_id, import_id, resource, first),
  foreign key (tenant_id, import_id) references imports (tenant_id, id)
);

-- What a record was before an import changed it, by the names of its fields.
create table import_changes (
  tenant_id uuid not null default current_tenant() references tenants,
  import_id uuid not null,
  resource text not null,
  record_id uuid not null,
  before json not null,
  primary key (tenant_id, import_id, resource, record_id),
  foreign key (tenant_id, import_id) references imports (tenant_id, id)
);

do $$
declare
  name text;
begin
  foreach name in array array['imports', 'import_creations', 'import_changes'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy tenant on %I using (tenant_id = (select current_tenant()))', name);
  end loop;
end $$;

-- Last, because until the end of this migration nobody can use the tables that change here.
-- Who wrote a record last: an import, or a caller (null). What an import wrote and nobody wrote since can be undone.
alter table publications add column import_id uuid;
alter table accounts add column import_id uuid;
alter table contacts add column import_id uuid;
alter table subscriptions add column import_id uuid;
alter table invoices add column import_id uuid;
alter table tasks add column import_id uuid;

-- The identifier of another system, by which its files name records that have no business identifier.
alter table contacts add column external_id text check (length(external_id) between 1 and 255);
create unique index on contacts (tenant_id, external_id) where external_id is not null;
alter table invoices add column external_id text check (length(external_id) between 1 and 255);
create unique index on invoices (tenant_id, external_id) where external_id is not null;
