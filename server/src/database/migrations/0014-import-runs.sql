-- Files that are sent to be imported, part by part, and how far their imports are. Both are gone after a day.

create table import_runs (
  tenant_id uuid not null default current_tenant() references tenants,
  id uuid not null,
  kind text not null default 'import' check (kind in ('import', 'undo')),
  state text not null default 'receiving' check (state in ('receiving', 'running', 'checked', 'done', 'failed')),
  file_name text not null,
  resource text not null,
  progress json,
  -- When the process that does it last said so.
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
  foreach name in array array['import_runs', 'import_parts'] loop
    execute format('alter table %I enable row level security', name);
    execute format('alter table %I force row level security', name);
    execute format('create policy tenant on %I using (tenant_id = (select current_tenant()))', name);
  end loop;
end $$;
