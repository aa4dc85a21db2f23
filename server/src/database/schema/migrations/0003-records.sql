-- The tables of records. The typed columns are the truth. `class` and `body` follow from them, and the one statement that writes a
-- resource keeps them so: `class` says which lists leave the row out, bit n stands for the n-th `leftOutUnless` of the contract;
-- `body` is the exact JSON of the response.
-- `import_id` says who wrote the record last: an import, or a caller (null). An import can be undone where nobody wrote since.
-- `external_id` is the identifier of another system, by which its files name records that have no business identifier.
-- A record that names an account needs no foreign key to its tenant: the account has one.

create table publications (
  tenant_id uuid not null default current_tenant() references tenants,
  position bigint not null,
  id uuid not null,
  code text not null check (length(code) between 1 and 64),
  name text,
  is_active boolean,
  frequency text,
  iss_frequency text,
  issue_decimals numeric,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  import_id uuid,
  class smallint not null,
  body text not null,
  primary key (tenant_id, id),
  unique (tenant_id, code),
  unique (tenant_id, class, position)
);

create table accounts (
  tenant_id uuid not null default current_tenant() references tenants,
  position bigint not null,
  id uuid not null,
  account_id text not null check (length(account_id) between 1 and 64),
  company text,
  address text,
  suite text,
  city text,
  state text,
  zip text,
  country text,
  web_address text,
  status text,
  status_key text,
  billing_email text,
  invoice_email_enabled boolean,
  invoice_print_enabled boolean,
  do_not_email boolean,
  -- These four are stored for the publisher's other systems, and no response shows them.
  user_id text,
  category text,
  quality text,
  primary_publication_id uuid,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  import_id uuid,
  class smallint not null,
  body text not null,
  primary key (tenant_id, id),
  unique (tenant_id, account_id),
  unique (tenant_id, class, position),
  foreign key (tenant_id, primary_publication_id) references publications (tenant_id, id)
);
create index on accounts (tenant_id, status_key, class, position);
-- The undo of an import removes records, and PostgreSQL then looks for rows that refer to them.
create index on accounts (tenant_id, primary_publication_id) where primary_publication_id is not null;

create table contacts (
  tenant_id uuid not null default current_tenant(),
  position bigint not null,
  id uuid not null,
  account_id text not null,
  owner_id text,
  name text,
  first_name text,
  last_name text,
  phone text,
  phone2 text,
  extension text,
  hide_contact boolean,
  subs_only boolean,
  do_not_email boolean,
  email text,
  title text,
  notes text,
  deleted_at timestamptz(3),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  external_id text check (length(external_id) between 1 and 255),
  import_id uuid,
  class smallint not null,
  body text not null,
  primary key (tenant_id, id),
  unique (tenant_id, class, position),
  foreign key (tenant_id, account_id) references accounts (tenant_id, account_id)
);
create index on contacts (tenant_id, account_id, class, position);
create unique index on contacts (tenant_id, external_id) where external_id is not null;

create table subscriptions (
  tenant_id uuid not null default current_tenant(),
  position bigint not null,
  id uuid not null,
  subscription_id text check (length(subscription_id) between 1 and 64),
  account_id text not null,
  publication_id uuid not null,
  renewed_from_subs_id uuid,
  renewal_date date,
  status text,
  status_key text,
  start_date date,
  end_date date,
  expire_date date,
  first_run_date date,
  subscription_number text,
  copies bigint,
  auto_reschedule boolean,
  auto_invoice boolean,
  notes text,
  total_net_charge numeric(20, 2),
  total_applied numeric(20, 2),
  total_due numeric(20, 2),
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  deleted_at timestamptz(3),
  import_id uuid,
  class smallint not null,
  body text not null,
  primary key (tenant_id, id),
  unique (tenant_id, subscription_id),
  unique (tenant_id, class, position),
  foreign key (tenant_id, account_id) references accounts (tenant_id, account_id),
  foreign key (tenant_id, publication_id) references publications (tenant_id, id),
  foreign key (tenant_id, renewed_from_subs_id) references subscriptions (tenant_id, id)
);
create index on subscriptions (tenant_id, account_id, class, position);
create index on subscriptions (tenant_id, status_key, class, position);
create index on subscriptions (tenant_id, publication_id, class, position);
create index on subscriptions (tenant_id, publication_id, status_key, class, position);
create index on subscriptions (tenant_id, renewed_from_subs_id) where renewed_from_subs_id is not null;
-- The overview of the console shows the renewals that come due.
create index on subscriptions (tenant_id, renewal_date) include (status_key) where deleted_at is null;

create table invoices (
  tenant_id uuid not null default current_tenant(),
  position bigint not null,
  id uuid not null,
  account_id text not null,
  publication_id uuid,
  issue_id text,
  status text not null,
  status_key text not null,
  issue_date date,
  due_date date,
  terms text,
  total numeric(20, 2),
  total_due numeric(20, 2),
  gross numeric(20, 2),
  net numeric(20, 2),
  invoice_type text,
  invoice_description text,
  inv_charges numeric(20, 2),
  inv_invoiced numeric(20, 2),
  inv_applied numeric(20, 2),
  inv_discount numeric(20, 2),
  inv_tax numeric(20, 2),
  date_paid date,
  is_open numeric,
  notes text,
  created_at timestamptz(3) not null,
  updated_at timestamptz(3) not null,
  external_id text check (length(external_id) between 1 and 255),
  import_id uuid,
  class smallint not null,
  body text not null,
  primary key (tenant_id, id),
  unique (tenant_id, class, position),
  foreign key (tenant_id, account_id) references accounts (tenant_id, account_id),
  foreign key (tenant_id, publication_id) references publications (tenant_id, id)
);
create index on invoices (tenant_id, account_id, class, position);
create index on invoices (tenant_id, status_key, class, position);
create index on invoices (tenant_id, publication_id, class, position);
create index on invoices (tenant_id, publication_id, status_key, class, position);
create unique index on invoices (tenant_id, external_id) where external_id is not null;
-- The overview of the console shows what is owed.
create index on invoices (tenant_id, due_date) include (total_due) where is_open = 1;

create table tasks (
  tenant_id uuid not null default current_tenant(),
  position bigint not null,
  id uuid not null,
  account_id text not null,
  title text not null,
  due_date date not null,
  user_id text not null,
  priority text,
  type text,
  route text not null,
  created_at timestamptz(3) not null,
  import_id uuid,
  class smallint not null,
  body text not null,
  primary key (tenant_id, id),
  unique (tenant_id, class, position),
  foreign key (tenant_id, account_id) references accounts (tenant_id, account_id)
);
create index on tasks (tenant_id, account_id);

do $$
declare
  resource text;
begin
  foreach resource in array array['publications', 'accounts', 'contacts', 'subscriptions', 'invoices', 'tasks'] loop
    execute format('alter table %I enable row level security', resource);
    execute format('alter table %I force row level security', resource);
    execute format('create policy tenant on %I using (tenant_id = current_tenant())', resource);
  end loop;
end $$;
