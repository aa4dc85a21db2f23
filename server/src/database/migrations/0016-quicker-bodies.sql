-- As before, but planned once a session and not for each statement: a row that is written alone costs half of what it did.
-- (They are called in whatever search path a session has, so they name nothing but what is in pg_catalog; and an E string is
-- read the same under every setting.)
create or replace function json_text(value text) returns text immutable parallel safe language plpgsql as $$
begin
  return case
    when value is null then 'null'
    when value ~ E'[\\u0001-\\u001f"\\\\]' then to_json(value)::text
    else '"' || value || '"'
  end;
end $$;
create or replace function json_boolean(value boolean) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce(value::text, 'null');
end $$;
create or replace function json_number(value numeric) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce(value::text, 'null');
end $$;
create or replace function json_digits(value numeric) returns text immutable parallel safe language plpgsql as $$
begin
  return coalesce('"' || value::text || '"', 'null');
end $$;
