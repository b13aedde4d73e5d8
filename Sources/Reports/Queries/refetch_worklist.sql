-- What to fetch from which provider, one row for each subscription of a user with open breaks: first
-- what the provider will delete, fewest hours left first; then what it keeps; then what is deleted;
-- and within these the most money first.
with work as (
  select
    state.provider,
    state.app_id,
    state.environment,
    state.store,
    state.user_id,
    state.subscription_id,
    min(state.break_id) as first_break,
    count(*) as breaks,
    sum(state.missing_events) as missing_events,
    sum(abs(state.estimated_usd)) as at_stake_usd,
    min(state.expected_at) as first_expected_at,
    max(state.expected_at) as last_expected_at,
    min(
      case when state.evidence_expires_at > as_of.ms then state.evidence_expires_at end
    ) as next_expiry_ms,
    max(state.evidence_expires_at) as last_expiry_ms,
    max(state.customer_id) as customer_id,
    max(state.provider_id) as provider_id,
    max(state.user_key) as user_key,
    max(coalesce(state.settles_at, state.expected_at)) as settled_ms
  from break_state as state
  join break_code on break_code.code = state.code
  cross join as_of
  where state.status in ('open', 'reopened') and break_code.record is not null
  group by
    state.provider,
    state.app_id,
    state.environment,
    state.store,
    state.user_id,
    state.subscription_id
)
select
  row_number() over (
    order by
      case
        when work.next_expiry_ms is not null then 0 when work.last_expiry_ms is null then 1 else 2
      end,
      (work.next_expiry_ms - as_of.ms) / 3600000,
      work.at_stake_usd is null,
      work.at_stake_usd desc,
      work.provider,
      work.app_id,
      work.environment,
      work.store,
      work.user_id,
      work.subscription_id
  ) as priority,
  work.*,
  coalesce(work.next_expiry_ms, work.last_expiry_ms) as evidence_expires_at,
  case
    when work.next_expiry_ms is not null then (work.next_expiry_ms - as_of.ms) / 3600000
    when work.last_expiry_ms is not null then 0
  end as hours_left,
  fetch.method,
  fetch.host,
  fetch.path,
  fetch.note,
  fetch.break_ids,
  (
    select max(snapshot.captured_ms)
    from snapshot
    join archive on archive.id = snapshot.archive
    where
      snapshot.provider = work.provider_id
      and snapshot.user = work.user_key
      and (
        work.app_id = ''
        or snapshot.app in (select id from string where value in ('', work.app_id)))
      and snapshot.captured_ms > work.settled_ms
      and snapshot.captured_ms <= as_of.ms
      and archive.kind = 'snapshots'
  ) as fetched_at
from work
cross join as_of
join fetch on fetch.first_break = work.first_break
order by priority
