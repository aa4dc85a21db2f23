-- What was deleted last. Only what is deleted stands in these indexes, so they cost a create nothing.
create index on contacts (tenant_id, class, deleted_at, position) where deleted_at is not null;
create index on subscriptions (tenant_id, class, deleted_at, position) where deleted_at is not null;
