-- A run of an archive imports all of its files: what became of each, as the API shows it.
alter table import_runs add column files json not null default '[]';
