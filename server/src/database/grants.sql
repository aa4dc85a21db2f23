-- Run after the migrations when the program serves under a role of its own: that role owns nothing,
-- is held by row-level security everywhere, and cannot read the text that search looks in.
grant usage on schema public to masthead_service;
grant select on installation to masthead_service;
grant select, insert, update, delete on
  tenants, users, memberships, access_tokens, applications, consents, authorization_state, signing_keys, sign_in_failures,
  heads, tallies,
  publications, accounts, contacts, subscriptions, invoices, tasks,
  imports, import_creations, import_changes
  to masthead_service;
grant select (tenant_id, resource, position, class), insert, update, delete on search_texts to masthead_service;
