-- Breaks, and what people decided about them.

-- The history of a break: each episode lasts from the run that first saw it to the run whose
-- input explained it, and keeps what the last run that saw it reported. A second episode is a break
-- that came back.
create table break_episode (
  break_id text not null,
  episode integer not null, -- from 1; 0 as seen by a newest run whose as-of is before its end
  code text not null,
  status text not null -- when it was last seen
    check (status in ('pending', 'open', 'resolved')),
  severity text not null,
  provider integer not null,
  app text not null,
  environment integer not null,
  store integer not null,
  user integer not null, -- key of the user; 0 unknown
  subscription text not null, -- with the key of the user where it is made of the id
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
  lineage integer not null, -- lineage whose events alone prove it; 0 for all other breaks
  first_seen_ms integer not null, -- as-of of `first_run`
  last_seen_ms integer not null, -- greatest as-of of the runs that saw it
  first_run integer not null,
  last_run integer not null,
  resolved_ms integer,
  resolved_run integer,
  primary key (break_id, episode)
) strict, without rowid;

-- Episodes of breaks with ids of users instead of their keys.
create view break_history as
select
  episode.*,
  coalesce(user.id, '') as user_id,
  coalesce(
    (select id from customer where customer.user = episode.user order by archive desc limit 1), ''
  ) as customer_id,
  case
    when user.id is null then episode.subscription
    else replace(episode.subscription, printf('%016x', episode.user), user.id)
  end as subscription_id
from break_episode as episode
left join user on user.key = episode.user;

-- Breaks as the last run that found them reported them.
create view break as
select *, break_id as id
from break_history as latest
where
  episode = (
    select iif(min(other.episode) = 0, 0, max(other.episode)) from break_episode as other
    where other.break_id = latest.break_id
  );

-- Results of drills, each on a copy of the ledger: how much of the damage the checks found.
create table drill (
  run integer not null, -- the newest run at that time; later runs publish the result
  code text not null, -- of a break, or `duplicate`
  as_of_ms integer not null,
  injected integer not null,
  found integer not null,
  renamed integer not null,
  missed integer not null,
  unrevealed integer not null,
  wrong integer not null,
  primary key (run, code)
) strict, without rowid;

create table decision (
  break_id text primary key,
  verdict text not null check (verdict in ('explained', 'written_off')),
  reason text not null,
  who text not null
) strict, without rowid;
