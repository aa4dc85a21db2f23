-- From when on the sessions of a user count: those that began before were ended by the user or with a former password,
-- also where a request that was under way stores one again.
alter table users add column sessions_since timestamptz(3);

-- The session of the browser in which the console was opened, whatever tenants it has worked in.
alter table consents add column session_uid text;
create index on consents (user_id) where withdrawn_at is null;
