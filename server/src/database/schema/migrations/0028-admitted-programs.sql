-- A database says which programs may use it. A migration that takes something away states the oldest program that does without
-- it, as this one does for the first release; the newest such statement holds.
-- admits: 1.0.0
alter table migrations add column admits text check (admits ~ '^\d+\.\d+\.\d+$');
