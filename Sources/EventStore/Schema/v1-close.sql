-- What was published, so that a later run can report changes, and what people did to the
-- ledger: months closed, persons erased.

-- What a published run had read, and the time zone of its days and months.
create table publication (
  run integer primary key,
  zone text not null, -- time zone of its days and months
  last_archive integer not null -- the last archive that it had read; 0 for none
) strict;

-- The months before which the rows of each feed were complete.
create table published_horizon (
  run integer not null,
  provider integer not null,
  app integer not null,
  booked_month integer not null, -- money
  settled_month integer not null, -- subscriptions
  ended_month integer not null, -- trials
  primary key (run, provider, app)
) strict, without rowid;

-- A version of the rows of a monthly report for one month, with the cause of restated rows.
create table published (
  id integer primary key,
  run integer not null, -- that published this version
  report text not null,
  zone text not null,
  period integer not null, -- year × 12 + month − 1
  sha256 text not null, -- of the complete rows
  unique (report, zone, period, run)
) strict;

-- The rows that a version adds, changes or removes: each is valid until the next version that has
-- its key. Numbers as `ReportRow` encodes them.
create table published_row (
  version integer not null references published (id),
  key blob not null, -- the key columns
  row_values blob, -- the other columns; null if the row was removed
  is_complete integer not null,
  cause text, -- why a published number changed; null if none did
  primary key (version, key)
) strict, without rowid;

-- What people did to the ledger, in order; part of the chain of runs.
create table act (
  id integer primary key,
  run integer not null, -- the newest published run; later runs include the act
  what text not null check (what in ('close', 'reopen', 'erase', 'prune', 'retract', 'readmit')),
  zone text not null, -- of the month; empty without one
  period integer, -- the month that was closed or reopened
  reason text not null,
  who text not null,
  content text not null, -- what was done, one fact per line
  sha256 text not null -- of all of it, in the form of `Act.text`
) strict;

-- How many rows each month has in the monthly reports of its newest publication.
create table published_month (
  zone text not null,
  period integer not null, -- year × 12 + month − 1
  run integer not null,
  row_count integer not null,
  incomplete_rows integer not null, -- that can still change
  primary key (zone, period)
) strict, without rowid;

-- The numbers that a close froze.
create table closed_report (
  act integer not null references act (id),
  report text not null,
  sha256 text not null, -- of the rows as CSV without header
  row_count integer not null,
  totals text not null, -- JSON: sums over columns
  rows blob not null, -- in the order of the report, as `ReportRow` encodes them
  primary key (act, report)
) strict;
