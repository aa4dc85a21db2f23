-- An account whose address nobody has proven belongs to the one tenant that invited it. Once the address is proven there
-- is one account of it for the whole installation.
alter table users add column tenant_id uuid references tenants;

-- Until now an address had one account, whoever had made it. One with several memberships, or with a subject that only the
-- operator could give, goes on as it is; one with a single membership belongs to that tenant from now on.
update users set tenant_id = membership.tenant_id
from memberships membership
where membership.user_id = users.id and users.subject is null and not exists (
  select from memberships other where other.user_id = users.id and other.tenant_id <> membership.tenant_id);

alter table users drop constraint users_email_key_key;
create unique index users_proven on users (email_key) where tenant_id is null;
create unique index users_unproven on users (email_key, tenant_id) where tenant_id is not null;

-- The audit log names people by their id: this tells who they were.
create table former_users (
  id uuid primary key,
  email text not null,
  name text not null,
  ended_at timestamptz(3) not null default now()
);

-- An account that opens nothing is one that a stranger may have left behind.
with removed as (
  delete from users where not exists (select from memberships where memberships.user_id = users.id)
  returning id, email, name
), sessions as (
  delete from authorization_state using removed where account_id = removed.id::text
)
insert into former_users (id, email, name) select id, email, name from removed;

-- A link that was mailed proves the address of whoever follows it; one that was shown to the inviter proves nothing.
alter table invitations add column is_mailed boolean not null default false;

-- Mails are counted for a day, wrong passwords for a quarter of an hour.
alter table sign_in_failures add column window_seconds integer not null default 900;
