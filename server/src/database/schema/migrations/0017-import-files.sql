-- Files come as other programs write them: a run holds what was noticed in its file, what somebody decided, and the refused rows in the
-- encoding of the file. It can be cancelled.
alter table import_runs drop constraint import_runs_state_check;
alter table import_runs add constraint import_runs_state_check
  check (state in ('receiving', 'running', 'inspected', 'checked', 'done', 'failed', 'cancelled'));
-- What was decided about the file, as the API takes it.
alter table import_runs add column options json not null default '{}';
-- What was noticed in the file, as the API shows it.
alter table import_runs add column inspection json;
-- Refusals by reason.
alter table import_runs add column groups json not null default '[]';
-- The refused rows as a file, and its name.
alter table import_runs add column rejected_file bytea;
alter table import_runs add column rejected_name text;
alter table import_runs add column is_cancelled boolean not null default false;

-- What was decided about files with the same header, for the next one.
create table import_mappings (
  tenant_id uuid not null default current_tenant(),
  -- A hash of the headings.
  header text not null,
  resource text not null,
  options json not null,
  used_at timestamptz(3) not null default now(),
  primary key (tenant_id, header)
);

select distribute('import_mappings');
alter table import_mappings add foreign key (tenant_id) references tenants;

alter table import_mappings enable row level security;
alter table import_mappings force row level security;
create policy tenant on import_mappings using (tenant_id = current_tenant());
