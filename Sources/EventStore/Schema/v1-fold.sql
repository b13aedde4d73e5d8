-- The state behind the cells, and the lineages that may change them.

-- The fold that the cells come from; no row before the first fold.
create table fold (
  id integer primary key check (id = 1),
  as_of_ms integer not null,
  rules text not null, -- SHA-256 of everything that the meaning of events depends on
  reconciliation text not null, -- SHA-256 of what all comparisons with snapshots depend on besides
  archive integer not null, -- the last archive of which events were folded
  groups integer not null -- fold groups when all were folded last
) strict;

-- The progress of each feed at that time.
create table fold_feed (
  provider integer not null,
  app integer not null,
  newest_ms integer not null,
  begin_ms integer not null,
  silence_ms integer not null, -- how long it may be silent
  primary key (provider, app)
) strict, without rowid;

-- When a lineage is folded again without new events: an hour early does no
-- harm. One with new events is due at once.
create table due (
  hour integer not null, -- since 1970-01-01, end included; smallest value if there are new events
  lineage integer not null,
  primary key (hour, lineage)
) strict, without rowid;

-- Ends that count as churn although a missing event may contradict them.
create table churn_doubt (
  lineage integer not null,
  at_ms integer not null, -- the effective end
  provider integer not null,
  app integer not null,
  store integer not null,
  product integer not null,
  primary key (lineage, at_ms, provider, app, store, product)
) strict, without rowid;

-- Charges of a store transaction by a provider that is not counted, with the counted one.
create table overlap (
  store integer not null,
  transaction_id text not null,
  counted_provider integer not null,
  other_provider integer not null,
  lineage integer not null, -- the counted one
  counted_usd integer, -- millionths, gross; null if unknown
  other_usd integer,
  primary key (store, transaction_id, counted_provider, other_provider)
) strict, without rowid;

create index overlap_by_lineage on overlap (lineage);

-- Exchange rates of charges, by day.
create table rate_cell (
  currency integer not null,
  day integer not null, -- in UTC
  rates blob not null, -- layout: RateCells.swift
  primary key (currency, day)
) strict, without rowid;

-- Prices of renewals.
create table price_cell (
  product integer not null,
  store integer not null,
  currency integer not null,
  country integer not null,
  week integer not null, -- since 1970-01-01; for the price of an offer, the smallest number
  price integer not null, -- millionths of the currency
  full_price integer not null, -- with the price of an offer; else -1
  charges integer not null,
  primary key (product, store, currency, country, week, price, full_price)
) strict, without rowid;

-- The result of comparing a user's events with snapshots, as far as later runs need it.
create table reconciled (
  provider integer not null,
  user integer not null,
  snapshots integer not null, -- fingerprint of the content of the current ones; 0 without any
  stands_until_ms integer, -- for captures of the same content; null if compared in every run
  details blob, -- rare values; layout: ReconciledUsers.swift
  primary key (provider, user)
) strict, without rowid;

-- Snapshots that no run has compared yet.
create table snapshot_due (
  captured_ms integer not null,
  provider integer not null,
  user integer not null,
  app integer not null,
  content integer not null,
  primary key (captured_ms, provider, user, app, content)
) strict, without rowid;
