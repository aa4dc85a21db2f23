-- A database says which programs may use it. A migration that takes something away states the oldest program that does without
-- it (`-- admits: 1.1.0` in its file); the newest such statement holds, and where there is none, every program is admitted.
alter table migrations add column admits text check (admits ~ '^\d+\.\d+\.\d+$');
