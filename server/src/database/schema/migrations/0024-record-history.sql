-- Finds what was done to one record, the newest first, however long the log is.
create index on audit_entries (tenant_id, record_id, number);
