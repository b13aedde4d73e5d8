-- What to fetch from which provider, one row for each subscription of a user with open breaks: the
-- most money first, then the evidence that is deleted soonest. What is deleted already, or was
-- never dated, comes after what can still be saved.
with items as (
  select
    state.id,
    state.provider,
    state.app,
    state.environment,
    state.store,
    state.user_id,
    state.subscription_id,
    state.missing_events,
    abs(state.estimated_usd) as at_stake_usd,
    state.expected_ms,
    state.evidence_expires_ms,
    as_of.ms as as_of_ms,
    -- Purchases tell more than entitlements, and come after them in the alphabet.
    max(fetch_code.of) over lineage as of,
    -- Each list begins with the one before it, so the longest is also the greatest.
    group_concat(state.id, ' ') over (lineage order by state.id) as break_ids
  from break_state as state
  join fetch_code on fetch_code.code = state.code
  cross join as_of
  where state.status in ('open', 'reopened')
  window lineage as (
    partition by
      state.provider, state.app, state.environment, state.store, state.user_id,
      state.subscription_id
  )
),
work as (
  select
    provider,
    app,
    environment,
    store,
    user_id,
    subscription_id,
    of,
    max(break_ids) as break_ids,
    count(*) as breaks,
    sum(missing_events) as missing_events,
    sum(at_stake_usd) as at_stake_usd,
    min(expected_ms) as first_expected_ms,
    max(expected_ms) as last_expected_ms,
    coalesce(
      min(case when evidence_expires_ms > as_of_ms then evidence_expires_ms end),
      max(evidence_expires_ms)
    ) as evidence_expires_ms,
    min(
      case when evidence_expires_ms > as_of_ms then evidence_expires_ms - as_of_ms end
    ) as left_ms
  from items
  group by
    provider,
    app,
    environment,
    store,
    user_id,
    subscription_id,
    of
)
select
  row_number() over (
    order by
      case when work.at_stake_usd is null then 1 else 0 end,
      work.at_stake_usd desc,
      case when work.left_ms is null then 1 else 0 end,
      work.left_ms,
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
  work.evidence_expires_ms as evidence_expires_at,
  case
    when work.evidence_expires_ms is not null then coalesce(work.left_ms, 0)
  end as hours_left,
  fetch.method,
  fetch.host,
  fetch.path,
  fetch.note,
  work.break_ids
from work
join provider_name as provider on provider.id = work.provider
join environment_name as environment on environment.id = work.environment
join store_name as store on store.id = work.store
join fetch
  on fetch.provider = work.provider
  and fetch.app = work.app
  and fetch.user_id = work.user_id
  and fetch.of = work.of
order by priority
