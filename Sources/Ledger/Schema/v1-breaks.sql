-- What does not agree, and what people decided about it.

-- A break as the last run that saw it told it; a row stays when its break is resolved.
create table break (
  id text primary key,
  code text not null,
  status text not null -- when it was last seen
    check (status in ('pending', 'open', 'resolved')),
  severity text not null,
  provider integer not null,
  app text not null,
  environment integer not null,
  store integer not null,
  user_id text not null,
  subscription_id text not null,
  transaction_id text not null,
  product_id text not null,
  expected_ms integer,
  settles_ms integer,
  evidence_expires_ms integer,
  missing_events integer not null,
  estimated_usd integer,
  amount_basis integer not null,
  evidence text not null,
  action text not null,
  last_run integer not null
) strict, without rowid;

-- The life of a break over runs: each episode goes from the run that saw it to the one whose input
-- explained it. A second episode is a break that came back.
create table break_episode (
  break_id text not null references break (id),
  episode integer not null, -- from 1
  first_seen_ms integer not null,
  last_seen_ms integer not null,
  first_run integer not null,
  last_run integer not null,
  resolved_ms integer,
  resolved_run integer,
  primary key (break_id, episode),
  check (first_seen_ms <= last_seen_ms and last_seen_ms <= coalesce(resolved_ms, last_seen_ms))
) strict, without rowid;

-- The decisions file of the last run; a decision may name a break that no run has seen.
create table decision (
  break_id text primary key,
  verdict text not null check (verdict in ('explained', 'written_off')),
  reason text not null,
  who text not null
) strict, without rowid;
