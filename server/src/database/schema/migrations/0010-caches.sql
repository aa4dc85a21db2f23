-- What caches check: every write stores the number of its transaction, and every process asks for the numbers that it has not
-- seen. NOTIFY would hold a lock of the whole cluster through each commit, and does not work through a connection pooler.

-- This table is read for all tenants at once and shows only that something changed, so it has no row-level security.
create table stamps (
  tenant_id uuid not null,
  resource text not null,
  changed_in xid8 not null,
  primary key (tenant_id, resource)
);
create index on stamps (changed_in);

-- The last change of what decides who may do what: tokens, memberships, consents, applications.
create table identity_revision (
  only_row boolean primary key default true check (only_row),
  changed_in xid8 not null
);
insert into identity_revision (changed_in) values (pg_current_xact_id());

create function stamp_identity() returns void language sql
  begin atomic update identity_revision set changed_in = pg_current_xact_id(); end;
