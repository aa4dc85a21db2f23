-- What caches go by: every write leaves the number of its transaction, and every process asks for the numbers that it has
-- not seen. (NOTIFY would hold a lock of the whole cluster through each commit, and passes no pooler.)

-- Read for all tenants at once, and it holds nothing of anybody but that something changed: so it carries no row-level
-- security, which would hold also the owner of the database.
create table stamps (
  tenant_id uuid not null,
  resource text not null,
  changed_in xid8 not null,
  primary key (tenant_id, resource)
);
create index on stamps (changed_in);

-- Who may do what: tokens, memberships, consents, applications.
create table identity_revision (
  only_row boolean primary key default true check (only_row),
  changed_in xid8 not null
);
insert into identity_revision (changed_in) values (pg_current_xact_id());

create function stamp_identity() returns void language sql
  begin atomic update identity_revision set changed_in = pg_current_xact_id(); end;
