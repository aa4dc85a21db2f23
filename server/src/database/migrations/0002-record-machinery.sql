-- What every table of records needs: the tenant of the transaction, the JSON of a stored body, list heads and tallies.

-- This fails when no tenant is set: a missing setting is an error, and after a transaction the setting is '', which is no uuid.
create function current_tenant() returns uuid stable parallel safe language sql
  return current_setting('masthead.tenant')::uuid;

-- The stored bodies are generated from these functions, so they must be immutable. PostgreSQL declares to_json and to_char
-- only stable, because of types and settings that do not occur here. The functions are written in PL/pgSQL because it plans
-- them once per session: a row that is written alone costs half of what it does with functions in SQL.
-- They are called under any search_path, so they name only what is in pg_catalog, and under any standard_conforming_strings,
-- so a backslash is written in an E string only.
create function json_text(value text) returns text immutable parallel safe language plpgsql as $$
begin
  return case
    when value is null then 'null'
    when value ~ E'[\\u0001-\\u001f"\\\\]' then to_json(value)::text
    else '"' || value || '"'
  end;
end $$;
create function json_timestamp(value timestamptz) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce('"' || to_char(value at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') || '"', 'null');
end $$;
create function json_date(value date) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce('"' || to_char(value, 'YYYY-MM-DD') || '"', 'null');
end $$;
create function json_boolean(value boolean) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce(value::text, 'null');
end $$;
create function json_number(value numeric) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce(value::text, 'null');
end $$;
create function json_digits(value numeric) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce('"' || value::text || '"', 'null');
end $$;

-- The head of a list has one row per tenant and resource. Every write locks it first, so positions become visible in order.
create table heads (
  tenant_id uuid not null default current_tenant() references tenants,
  resource text not null,
  last bigint not null default 0,
  -- The number last tried for a business identifier that the service makes.
  last_number bigint not null default 0,
  primary key (tenant_id, resource)
);

-- How many records there are, by facet (a combination of filter values, '' for all records) and visibility class, in blocks of
-- 2^level positions. Each block holds 64 blocks of the next finer level, so the way from a page number to its place, and to the
-- total, reads a few dozen rows whatever the size of the tenant.
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

-- The second guard of every tenant. The first is that each statement names its tenant, by a parameter, which also keeps
-- PostgreSQL from planning for the tenant of the moment: see docs/decisions/0002-generic-plans.md.
alter table heads enable row level security;
alter table heads force row level security;
create policy tenant on heads using (tenant_id = current_tenant());
alter table tallies enable row level security;
alter table tallies force row level security;
create policy tenant on tallies using (tenant_id = current_tenant());
