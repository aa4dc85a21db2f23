-- Lists can be sorted, and filtered by more than the fields whose totals are kept. What they compare stands in columns whose comparison
-- row-level security leaves to an index: names without case and accents, e-mail addresses in lower case, amounts in cents.
-- Each index serves a sort in both directions and a filter, in one class.

-- The day that "overdue" compares with.
alter table tenants add column time_zone text not null default 'UTC';

alter table publications
  add column name_key text collate "C";
alter table accounts
  add column company_key text collate "C",
  add column city_key text collate "C";
alter table contacts
  add column name_key text collate "C",
  add column first_name_key text collate "C",
  add column last_name_key text collate "C",
  add column email_key text collate "C";
alter table subscriptions
  add column total_net_charge_cents bigint,
  add column total_applied_cents bigint,
  add column total_due_cents bigint;
alter table invoices
  add column total_cents bigint,
  add column total_due_cents bigint,
  add column gross_cents bigint,
  add column net_cents bigint,
  add column inv_charges_cents bigint,
  add column inv_invoiced_cents bigint,
  add column inv_applied_cents bigint,
  add column inv_discount_cents bigint,
  add column inv_tax_cents bigint,
  add column is_open_key bigint;

-- The amounts of the records that are there. The program fills the other columns in the same transaction (`filled-keys.ts`), because it normalises
-- names; it gives all of them from now on.
do $$
declare
  tenant uuid;
begin
  for tenant in select id from tenants loop
    perform set_tenant(tenant::text);
    update subscriptions set
      total_net_charge_cents = least(greatest(total_net_charge * 100, -9e18), 9e18)::bigint,
      total_applied_cents = least(greatest(total_applied * 100, -9e18), 9e18)::bigint,
      total_due_cents = least(greatest(total_due * 100, -9e18), 9e18)::bigint
    where tenant_id = tenant;
    update invoices set
      total_cents = least(greatest(total * 100, -9e18), 9e18)::bigint,
      total_due_cents = least(greatest(total_due * 100, -9e18), 9e18)::bigint,
      gross_cents = least(greatest(gross * 100, -9e18), 9e18)::bigint,
      net_cents = least(greatest(net * 100, -9e18), 9e18)::bigint,
      inv_charges_cents = least(greatest(inv_charges * 100, -9e18), 9e18)::bigint,
      inv_invoiced_cents = least(greatest(inv_invoiced * 100, -9e18), 9e18)::bigint,
      inv_applied_cents = least(greatest(inv_applied * 100, -9e18), 9e18)::bigint,
      inv_discount_cents = least(greatest(inv_discount * 100, -9e18), 9e18)::bigint,
      inv_tax_cents = least(greatest(inv_tax * 100, -9e18), 9e18)::bigint,
      is_open_key = is_open::bigint
    where tenant_id = tenant;
  end loop;
end $$;

create index on publications (tenant_id, class, code, position);
create index on publications (tenant_id, class, name_key, position);
create index on publications (tenant_id, class, created_at, position);
create index on publications (tenant_id, class, updated_at, position);
create index on accounts (tenant_id, class, account_id, position);
create index on accounts (tenant_id, class, company_key, position);
create index on accounts (tenant_id, class, city_key, position);
create index on accounts (tenant_id, class, created_at, position);
create index on accounts (tenant_id, class, updated_at, position);
create index on contacts (tenant_id, class, name_key, position);
create index on contacts (tenant_id, class, first_name_key, position);
create index on contacts (tenant_id, class, last_name_key, position);
create index on contacts (tenant_id, class, email_key, position);
create index on contacts (tenant_id, class, created_at, position);
create index on contacts (tenant_id, class, updated_at, position);
create index on subscriptions (tenant_id, class, subscription_number, position);
create index on subscriptions (tenant_id, class, copies, position);
create index on subscriptions (tenant_id, class, start_date, position);
create index on subscriptions (tenant_id, class, end_date, position);
create index on subscriptions (tenant_id, class, expire_date, position);
create index on subscriptions (tenant_id, class, first_run_date, position);
create index on subscriptions (tenant_id, class, renewal_date, position);
create index on subscriptions (tenant_id, class, total_net_charge_cents, position);
create index on subscriptions (tenant_id, class, total_applied_cents, position);
create index on subscriptions (tenant_id, class, total_due_cents, position);
create index on subscriptions (tenant_id, class, created_at, position);
create index on subscriptions (tenant_id, class, updated_at, position);
create index on invoices (tenant_id, class, issue_date, position);
create index on invoices (tenant_id, class, due_date, position);
create index on invoices (tenant_id, class, date_paid, position);
create index on invoices (tenant_id, class, total_cents, position);
create index on invoices (tenant_id, class, total_due_cents, position);
create index on invoices (tenant_id, class, gross_cents, position);
create index on invoices (tenant_id, class, net_cents, position);
create index on invoices (tenant_id, class, inv_charges_cents, position);
create index on invoices (tenant_id, class, inv_invoiced_cents, position);
create index on invoices (tenant_id, class, inv_applied_cents, position);
create index on invoices (tenant_id, class, inv_discount_cents, position);
create index on invoices (tenant_id, class, inv_tax_cents, position);
create index on invoices (tenant_id, class, created_at, position);
create index on invoices (tenant_id, class, updated_at, position);

-- The sorts that people ask for among the records of one kind: what is owed by when it is due, active subscriptions by when they expire.
create index on subscriptions (tenant_id, status_key, class, expire_date, position);
create index on subscriptions (tenant_id, status_key, class, renewal_date, position);
create index on subscriptions (tenant_id, publication_id, class, expire_date, position);
create index on invoices (tenant_id, status_key, class, issue_date, position);
create index on invoices (tenant_id, status_key, class, due_date, position);
create index on invoices (tenant_id, is_open_key, class, issue_date, position);
create index on invoices (tenant_id, is_open_key, class, due_date, position);
create index on invoices (tenant_id, is_open_key, class, position);
