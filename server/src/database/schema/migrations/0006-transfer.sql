-- Imports: what each of them wrote, so that it can be undone, and the runs that the console starts.

create table imports (
  tenant_id uuid not null default current_tenant() references tenants,
  id uuid not null,
  started_at timestamptz(3) not null default now(),
  -- Null while the import runs, and for ever when it was interrupted.
  ended_at timestamptz(3),
  undone_at timestamptz(3),
  -- The files as the summary shows them.
  files json not null default '[]',
  primary key (tenant_id, id)
);

-- The positions that an import gave to the records it created. Every position from `first` to `last` is its own.
create table import_creations (
  tenant_id uuid not null default current_tenant() references tenants,
  import_id uuid not null,
  resource text not null,
  first bigint not null,
  last bigint not null,
  primary key (tenant_id, import_id, resource, first),
  foreign key (tenant_id, import_id) references imports (tenant_id, id)
);

-- A record as it was before an import changed it, by the names of its fields.
create table import_changes (
  tenant_id uuid not null default current_tenant() references tenants,
  import_id uuid not null,
  resource text not null,
  record_id uuid not null,
  before json not null,
  primary key (tenant_id, import_id, resource, record_id),
  foreign key (tenant_id, import_id) references imports (tenant_id, id)
);

-- Files that are sent part by part to be imported, and the progress of their imports. Both are deleted after a day.
create table import_runs (
  tenant_id uuid not null default current_tenant() references tenants,
  id uuid not null,
  kind text not null default 'import' check (kind in ('import', 'undo')),
  state text not null default 'receiving' check (state in ('receiving', 'running', 'checked', 'done', 'failed')),
  file_name text not null,
  resource text not null,
  progress json,
  -- When the process of this run last reported.
  seen_at timestamptz(3),
  created integer not null default 0,
  changed integer not null default 0,
  unchanged integer not null default 0,
  refused integer not null default 0,
  refusals json not null default '[]',
  removed integer not null default 0,
  restored integer not null default 0,
  kept integer not null default 0,
  rejected_rows text,
  import_id uuid,
  problem text,
  created_at timestamptz(3) not null default now(),
  primary key (tenant_id, id)
);

create table import_parts (
  tenant_id uuid not null default current_tenant() references tenants,
  run_id uuid not null,
  number integer not null,
  content bytea not null,
  primary key (tenant_id, run_id, number),
  foreign key (tenant_id, run_id) references import_runs (tenant_id, id) on delete cascade
);

do $$
declare
  name text;
begin
  foreach name in array array['imports', 'import_creations', 'import_changes', 'import_runs', 'import_parts'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy tenant on %I using (tenant_id = current_tenant())', name);
  end loop;
end $$;
