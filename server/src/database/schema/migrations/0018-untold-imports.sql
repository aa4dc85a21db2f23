-- An import or an undo may be interrupted, and nobody is told of it then: the next event tells of what it wrote, too.
alter table imports
  -- Where `/changes` stood before what no event has told of yet, and when that was; null once one has.
  add column untold_cursor text,
  add column untold_at timestamptz,
  -- What an undo has done so far, by resource, which an undo that continues it adds to.
  add column undone_counts json not null default '{}';
