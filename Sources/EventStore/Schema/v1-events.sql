-- What was received: events by lineage, and snapshots by user.

insert into string (id, value) values (0, '');

create index archive_by_path on archive (path);

create index archive_by_content on archive (sha256);

create unique index archive_by_name on archive (name, sha256, kind, ifnull(captured_ms, 0));

-- The only place of user ids. The key is the id's fingerprint, or the next free number if another id
-- has it.
create table user (
  key integer primary key,
  id text not null
) strict;

-- The app's own ids of users, where configured; the newest message decides.
create table customer (
  user integer not null references user (key),
  archive integer not null, -- archive with the id
  made_ms integer not null, -- creation time of the newest message with it
  id text not null,
  primary key (user, archive)
) strict, without rowid;

-- A subscription with all its events in one blob: they are read together,
-- and most are written together. The key is a fingerprint of provider, app, environment, store and
-- original transaction id.
create table lineage (
  key integer primary key,
  provider integer not null,
  app integer not null,
  environment integer not null,
  store integer not null,
  original any not null, -- original transaction id: an integer when that keeps it whole
  user integer not null, -- key, of the newest counted event with a user; 0 unknown
  versions integer not null, -- versions in `events`
  counted integer not null, -- of these, those that count
  compared integer not null, -- of these, those of another user or whose entitlements contain more
  events blob not null -- layout: EventRecords.swift
) strict;

-- Includes the provider: a walk over users of some providers skips lineages of the others.
create index lineage_by_user on lineage (user, provider) where user <> 0;

-- Few webhooks contain entitlements that their own event does not explain, or name an earlier user.
create index lineage_by_comparison on lineage (provider, user) where compared > 0;

-- Prefixes of identities and of their lineages, sorted, some hundred per row: enough to find
-- other places of an identity, so that no event counts in two lineages.
create table identity (
  first integer primary key,
  entries blob not null -- layout: IdentityIndex.swift
) strict;

-- The places of identities with more than one version.
create table event_conflict (
  identity integer not null,
  time integer not null,
  lineage integer not null,
  primary key (identity, time, lineage)
) strict, without rowid;

-- Only where several providers were seen: the first lineage that names a transaction of a store.
create table store_transaction (
  id integer not null, -- fingerprint of the id
  store integer not null,
  lineage integer not null,
  primary key (id, store)
) strict, without rowid;

-- Lineages that are folded together because they contain the same store transactions, or belong to
-- a user with such a lineage.
create table lineage_link (
  lineage integer primary key,
  root integer not null -- the least of them
) strict;

create index lineage_link_by_root on lineage_link (root);

-- A user's snapshot is mostly the same in every run, so its content is kept once.
create table snapshot_content (
  key integer primary key, -- upper half: the user's; lower half: of the body; or the next free one
  body blob not null -- layout: SnapshotCoding.swift
) strict;

create table snapshot (
  provider integer not null,
  user integer not null,
  app integer not null,
  captured_ms integer not null,
  content integer not null references snapshot_content (key),
  archive integer not null references archive (id),
  line integer not null,
  byte_offset integer not null,
  primary key (provider, user, app, captured_ms, content)
) strict, without rowid;
