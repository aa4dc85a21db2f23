-- Exports that callers of the API ask for, and their files, which any node sends. Both are deleted after a day.
create table exports (
  tenant_id uuid not null default current_tenant(),
  id uuid not null,
  state text not null default 'waiting' check (state in ('waiting', 'running', 'done', 'failed', 'deleted')),
  resources json not null,
  -- As the API takes them, by resource.
  filters json not null,
  format text not null,
  gzip boolean not null,
  spreadsheet boolean not null,
  -- How often a process began it. What an earlier one still writes does not count.
  attempt integer not null default 0,
  -- When the process that makes it last reported.
  seen_at timestamptz(3) not null default now(),
  records bigint not null default 0,
  expected bigint,
  -- The moment of the snapshot.
  as_of timestamptz(3),
  -- Names, sizes and hashes, as the API shows them.
  files json not null default '[]',
  problem text,
  created_at timestamptz(3) not null default now(),
  expires_at timestamptz(3) not null default now() + interval '1 day',
  primary key (tenant_id, id)
);

-- A file in parts of one size, so that the part of a byte is known; the last one is smaller.
create table export_chunks (
  tenant_id uuid not null default current_tenant(),
  export_id uuid not null,
  file text not null,
  number integer not null,
  content bytea not null,
  primary key (tenant_id, export_id, file, number)
);
-- Compressing what may be compressed already costs more than it saves, and parts of it could not be read by themselves.
alter table export_chunks alter column content set storage external;

select distribute('exports');
select distribute('export_chunks');
alter table exports add foreign key (tenant_id) references tenants;
alter table export_chunks add foreign key (tenant_id) references tenants;
alter table export_chunks add foreign key (tenant_id, export_id) references exports (tenant_id, id) on delete cascade;

alter table exports enable row level security;
alter table exports force row level security;
create policy tenant on exports using (tenant_id = current_tenant());
alter table export_chunks enable row level security;
alter table export_chunks force row level security;
create policy tenant on export_chunks using (tenant_id = current_tenant());
