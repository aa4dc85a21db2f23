-- What caches go by: every write stamps what it changed with its transaction, and every process asks for the stamps that
-- it has not seen. (NOTIFY would hold a lock of the whole cluster through each commit, and passes no pooler.)

alter table heads add column changed_in xid8;
create index on heads (changed_in);

-- Who may do what: tokens, memberships, consents, applications.
create table identity_revision (
  only_row boolean primary key default true check (only_row),
  changed_in xid8 not null
);
insert into identity_revision (changed_in) values (pg_current_xact_id());

create function stamp_identity() returns void language sql
  begin atomic update identity_revision set changed_in = pg_current_xact_id(); end;

-- What was stamped by a transaction that had not ended before `since`; '' stands for who may do what. Of all tenants, and
-- nothing of them but that something changed.
create function changes_since(since xid8) returns table (tenant text, resource text, stamp xid8)
stable security definer set search_path = public, pg_temp language sql as $$
  select tenant_id::text, resource, changed_in from heads where changed_in >= since
  union all
  select '', '', changed_in from identity_revision where changed_in >= since
$$;
