-- What was read, and the counts of its lines.

-- Texts that occur often: apps, products, countries, currencies, event names. 0 is the empty text.
create table string (
  id integer primary key,
  value text not null unique
) strict;

-- One row per distinct content of an archive, and per name it was seen under; of snapshots that no
-- line dates also per moment.
create table archive (
  id integer primary key, -- rises with `run`
  run integer not null, -- run that published it, or will publish it
  name text not null, -- path relative to the given root
  sha256 text not null,
  kind text not null check (kind in ('events', 'snapshots')),
  path text not null, -- as found; an unchanged file is not read again
  bytes integer not null,
  modified_ms integer not null,
  inode integer not null,
  lines integer not null,
  accepted integer not null,
  duplicates integer not null,
  skipped integer not null,
  rejected integer not null,
  rounded_amounts integer not null default 0, -- more than six decimals
  missing_is_proceed integer not null default 0, -- charges and refunds; read as 0
  first_event_ms integer,
  last_event_ms integer,
  status text not null check (status in ('complete', 'damaged', 'repeated')),
  damage_offset integer,
  imported_until integer, -- offset in the inflated archive of the last value with events
  provisional_from integer, -- there, the first line of a gzip member with a wrong checksum
  content_bytes integer, -- length of the inflated archive, up to the damage
  content_hash integer, -- of that
  beginning integer, -- hash of its first lines
  stream integer, -- the first archive of the log of which this one continues another
  snapshots_check integer, -- sum of the fingerprints of its snapshots
  captured_ms integer, -- capture time of lines that contain none; null without such lines
  check (lines = accepted + duplicates + skipped + rejected)
) strict;

create table skipped (
  archive integer not null references archive (id),
  reason text not null,
  lines integer not null,
  primary key (archive, reason)
) strict, without rowid;

create table rejected (
  archive integer not null references archive (id),
  reason text not null,
  lines integer not null,
  primary key (archive, reason)
) strict, without rowid;

-- The first rejected lines of each reason.
create table reject (
  archive integer not null references archive (id),
  line integer not null,
  byte_offset integer not null,
  reason text not null,
  detail text not null,
  primary key (archive, line, byte_offset)
) strict, without rowid;

-- Names in bodies without a known meaning, and the lines that contain them.
create table unknown_input (
  archive integer not null references archive (id),
  provider integer not null,
  what text not null,
  name text not null,
  lines integer not null,
  first_line integer not null,
  primary key (archive, provider, what, name)
) strict, without rowid;

-- Deliveries by the day of arrival (received, else created, else event time). As in the tables
-- below, `run` is the one that publishes them first, so that earlier runs can be reproduced.
create table delivery_cell (
  run integer not null,
  day integer not null,
  provider integer not null,
  kind integer not null, -- EventKind
  schedule integer not null, -- 0: the provider's; 1: its older one, which has only attempts
  delivered integer not null,
  distinct_events integer not null,
  duplicates_exact integer not null,
  duplicates_semantic integer not null,
  conflicts integer not null,
  received integer not null, -- deliveries whose envelope has a receive time
  attempt_1 integer not null, -- of these, by their attempt in the retry schedule
  attempt_2 integer not null,
  attempt_3 integer not null,
  attempt_4 integer not null,
  attempt_5 integer not null,
  attempt_6 integer not null,
  latency_max_s integer,
  primary key (run, day, provider, kind, schedule)
) strict, without rowid;

-- Seconds from event time to receive time, as a histogram: bucket b < 128 holds exactly b seconds;
-- above, 64 buckets per doubling (relative error below 1.6 %).
create table latency_cell (
  run integer not null,
  day integer not null,
  provider integer not null,
  kind integer not null,
  bucket integer not null,
  deliveries integer not null,
  primary key (run, day, provider, kind, bucket)
) strict, without rowid;

-- Times of receipt, in steps of five minutes.
create table receipt_cell (
  run integer not null,
  provider integer not null,
  slot integer not null, -- five minutes since 1970-01-01
  from_ms integer not null, -- the first receipt
  to_ms integer not null, -- the last one
  primary key (run, provider, slot)
) strict, without rowid;

-- Attempts that must have failed, because their message arrived at a later one.
create table failed_attempt (
  run integer not null,
  provider integer not null,
  schedule integer not null, -- as in delivery_cell
  at_ms integer not null, -- by that schedule, from the creation of the message
  identity integer not null,
  attempt integer not null, -- from 1
  primary key (run, provider, schedule, at_ms, identity, attempt)
) strict, without rowid;

-- The hours of UTC days in which a feed delivered something (received, else created, else event
-- time), each with its first and last arrival.
create table delivery_day (
  provider integer not null,
  app integer not null,
  day integer not null, -- since 1970-01-01
  run integer not null,
  hours blob not null, -- layout: FeedArrivals.swift
  primary key (provider, app, day, run)
) strict, without rowid;

-- A sample of each feed's events (the smallest fingerprints): seconds from an event to the
-- creation of its message, the slowest of several.
create table creation_lag (
  provider integer not null,
  app integer not null,
  identity integer not null,
  run integer not null,
  lag_s integer not null,
  primary key (provider, app, identity, run)
) strict, without rowid;

-- Files that had an effect on the numbers of runs, each content once.
create table document (
  sha256 text primary key, -- of the content
  body blob not null -- the content, gzip
) strict, without rowid;

-- Every set that was published or prepared.
create table published_set (
  sha256 text primary key, -- of its SHA256SUMS
  folder text -- where a run published it; null for a report that is not recorded
) strict, without rowid;

create table run (
  id integer primary key,
  as_of_ms integer not null,
  version text not null,
  options text not null, -- JSON, sorted keys
  lines integer not null,
  accepted integer not null,
  duplicates integer not null,
  skipped integer not null,
  rejected integer not null,
  archives integer not null,
  -- without secrets and paths; null without such a file
  configuration text references document (sha256),
  prices text references document (sha256),
  decisions text references document (sha256),
  published text, -- SHA-256 of SHA256SUMS, when a set was published
  qualified text, -- why the set has reservations; null without any
  record text -- SHA-256 over the run and the previous record; set with `published`
) strict;

-- What a run added, by table: its record seals it.
create table run_part (
  run integer not null references run (id),
  part text not null, -- a table
  rows integer not null,
  sha256 text not null, -- over these rows in the order of their key
  primary key (run, part)
) strict, without rowid;
