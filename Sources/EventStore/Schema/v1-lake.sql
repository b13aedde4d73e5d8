-- For a ledger whose events are stored in a lake: the place of each archive's events.
create table lake_archive (
  archive integer primary key references archive (id),
  part text not null, -- the folder of the run that read it
  file integer not null, -- its number in that folder
  attempt integer not null, -- which reading of it counts
  published integer not null -- the last published archive at that time
) strict;
-- All folders in the lake that runs of this ledger began: one without an archive was left by a run
-- that was interrupted, or was replaced.
create table lake_part (
  part text primary key
) strict, without rowid;
