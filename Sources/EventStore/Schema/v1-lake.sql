-- Of a ledger whose events lie in a lake: where those of each archive are.
create table lake_archive (
  archive integer primary key references archive (id),
  part text not null, -- the folder of the run that read it
  file integer not null, -- its number in that folder
  attempt integer not null, -- which reading of it counts
  published integer not null -- the last archive that a run had published then
) strict;
-- All folders of the lake that runs of this ledger began: one that has no archive was left by a run
-- that was broken off, or another took its place.
create table lake_part (
  part text primary key
) strict, without rowid;
