-- What to fetch from which provider, one row for each subscription of a user with open breaks: first
-- what the provider will delete, fewest hours left first; then what it keeps; then what is deleted;
-- and within these the most money first.
with work as (
  select
    state.provider,
    state.app,
    state.environment,
    state.store,
    state.user_id,
    state.subscription_id,
    min(state.id) as first_break,
    count(*) as breaks,
    sum(state.missing_events) as missing_events,
    sum(abs(state.estimated_usd)) as at_stake_usd,
    min(state.expected_ms) as first_expected_ms,
    max(state.expected_ms) as last_expected_ms,
    min(
      case when state.evidence_expires_ms > as_of.ms then state.evidence_expires_ms end
    ) as next_expiry_ms,
    max(state.evidence_expires_ms) as last_expiry_ms,
    max(state.customer_id) as customer_id,
    max(state.user_key) as user_key,
    max(coalesce(state.settles_ms, state.expected_ms)) as settled_ms
  from break_state as state
  join break_code on break_code.code = state.code
  cross join as_of
  where state.status in ('open', 'reopened') and break_code.record is not null
  group by
    state.provider,
    state.app,
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
      case when work.at_stake_usd is null then 1 else 0 end,
      work.at_stake_usd desc,
      provider.word,
      work.app,
      environment.word,
      store.word,
      work.user_id,
      work.subscription_id
  ) as priority,
  provider.word as provider,
  work.app as app_id,
  environment.word as environment,
  store.word as store,
  work.user_id,
  work.subscription_id,
  work.breaks,
  work.missing_events,
  work.at_stake_usd,
  work.first_expected_ms as first_expected_at,
  work.last_expected_ms as last_expected_at,
  coalesce(work.next_expiry_ms, work.last_expiry_ms) as evidence_expires_at,
  case
    when work.next_expiry_ms is not null then work.next_expiry_ms - as_of.ms
    when work.last_expiry_ms is not null then 0
  end as hours_left,
  fetch.method,
  fetch.host,
  fetch.path,
  fetch.note,
  fetch.break_ids,
  work.customer_id,
  (
    select max(snapshot.captured_ms)
    from snapshot
    join archive on archive.id = snapshot.archive
    where
      snapshot.provider = work.provider
      and snapshot.user = work.user_key
      and snapshot.captured_ms > work.settled_ms
      and snapshot.captured_ms <= as_of.ms
      and archive.kind = 'snapshots'
  ) as fetched_at
from work
cross join as_of
join provider_name as provider on provider.id = work.provider
join environment_name as environment on environment.id = work.environment
join store_name as store on store.id = work.store
join fetch on fetch.first_break = work.first_break
order by priority
