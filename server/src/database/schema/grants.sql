-- Run after the migrations when the program serves under a role of its own: that role owns nothing,
-- is held by row-level security everywhere, and cannot read the text that search looks in.
grant usage on schema public to masthead_service;
grant select, update (source) on installation to masthead_service;
-- A slug stays what it is: by that of a canary the audit log of a tenant could be deleted.
revoke update on tenants from masthead_service;
grant select, insert, update (name, default_assignee, time_zone), delete on tenants to masthead_service;
grant select, update on identity_revision to masthead_service;
grant execute on function versions_of, list_versions_of, versions_on_shards to masthead_service;
grant select, insert, update, delete on
  users, former_users, memberships, invitations, access_tokens, applications, consents, authorization_state, signing_keys, sign_in_failures,
  heads, tallies, removed_records,
  publications, accounts, contacts, subscriptions, invoices, tasks,
  imports, import_creations, import_changes, import_runs, import_parts, import_mappings, exports, export_chunks, idempotency_records
  to masthead_service;
grant select (tenant_id, resource, position, class), insert, update, delete on search_texts to masthead_service;
grant select, insert, update, delete on webhook_endpoints, webhook_events, webhook_deliveries, webhook_wakes to masthead_service;
-- Entries of the audit log can be added, but not changed. Row-level security says what may be deleted.
grant execute on function append_to_audit, chain_audit, tidy_search to masthead_service;
grant select, insert, delete on audit_keys, audit_entries, audit_waiting to masthead_service;
grant select, delete on audit_links to masthead_service;
