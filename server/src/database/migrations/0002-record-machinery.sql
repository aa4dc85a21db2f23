-- What every resource table stands on: the tenant of the transaction, the JSON of a stored body,
-- heads and tallies (exact totals and any page at the cost of the first), and search.

create extension if not exists btree_gin;
create extension if not exists pg_trgm;

-- Fails when no tenant was set: a missing setting is an error, an ended transaction leaves '' which is no uuid.
create function current_tenant() returns uuid stable parallel safe language sql
  return current_setting('masthead.tenant')::uuid;

-- to_json and to_char are only stable because of types and settings that are not in play here:
-- these wrappers depend on no setting of the session, so that a stored body can be generated from them.
-- (The text of a plpgsql function is read under standard_conforming_strings of the session: no backslashes there.)
create function json_escaped(value text) returns text immutable parallel safe language plpgsql as $$
begin
  return to_json(value)::text;
end $$;
create function json_text(value text) returns text immutable parallel safe language sql
  return case
    when value is null then 'null'
    when value ~ '[\u0001-\u001f"\\]' then json_escaped(value)
    else '"' || value || '"'
  end;
create function json_timestamp(value timestamptz) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce('"' || to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null');
end $$;
create function json_date(value date) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce('"' || to_char(value, 'YYYY-MM-DD') || '"', 'null');
end $$;
create function json_boolean(value boolean) returns text immutable parallel safe language sql
  return coalesce(value::text, 'null');
create function json_number(value numeric) returns text immutable parallel safe language sql
  return coalesce(value::text, 'null');
create function json_digits(value numeric) returns text immutable parallel safe language sql
  return coalesce('"' || value::text || '"', 'null');

-- One row a tenant and resource. Every write locks it first, so positions become visible in order.
create table heads (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  last bigint not null default 0,
  -- The number last tried for a business identifier that the service makes.
  last_number bigint not null default 0,
  primary key (tenant_id, resource)
);

-- How many records there are: by facet (a combination of filter values, '' for all of them) and visibility class,
-- in blocks of 2^level positions. Each block holds 64 of the next finer level, so that the way from a page number to
-- its place, and to the total, reads a few dozen rows whatever the size of the tenant.
create table tallies (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  facet text not null,
  class smallint not null,
  level smallint not null check (level in (10, 16, 22, 62)),
  block bigint not null,
  count bigint not null,
  primary key (tenant_id, resource, facet, class, level, block)
) with (fillfactor = 70);

-- The folded text in which search looks. Not forced: its owner's function below reads it with its index, for
-- under row-level security only leakproof operators use an index, and LIKE is none.
create table search_texts (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  position bigint not null,
  -- A copy: a search for a common word would otherwise look up the class of thousands of records.
  class smallint not null,
  text text not null,
  primary key (tenant_id, resource, position)
);
create index on search_texts using gin (tenant_id, resource, text gin_trgm_ops);

-- The tenant is asked for in a subselect: once a statement, and hidden from the planner, which would else make the plan
-- for this one tenant (a scan of all its rows, when it is small or newer than the statistics) and keep it for others.
alter table heads enable row level security;
alter table heads force row level security;
create policy tenant on heads using (tenant_id = (select current_tenant()));
alter table tallies enable row level security;
alter table tallies force row level security;
create policy tenant on tallies using (tenant_id = (select current_tenant()));
alter table search_texts enable row level security;
create policy tenant on search_texts using (tenant_id = (select current_tenant()));
