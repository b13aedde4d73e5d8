-- Every break that any run saw, one row per episode. A break that was resolved and came
-- back keeps its earlier rows; the latest row of an unresolved break has its current state.
-- An event that only arrived late was resolved by the run that saw it.
select
  life.break_id,
  life.episode,
  life.code,
  case
    when life.resolved_ms is not null or life.status = 'resolved' then 'resolved'
    when decision.verdict is not null then decision.verdict
    when life.status = 'open' and life.episode > 1 then 'reopened'
    else life.status
  end as status,
  life.severity,
  provider.word as provider,
  life.app as app_id,
  environment.word as environment,
  store.word as store,
  life.user_id,
  life.subscription_id,
  life.transaction_id,
  life.product_id,
  life.expected_ms as expected_at,
  life.first_seen_ms as first_seen_at,
  life.last_seen_ms as last_seen_at,
  iif(life.status = 'resolved', life.first_seen_ms, life.resolved_ms) as resolved_at,
  iif(life.status = 'resolved', life.first_run, life.resolved_run) as resolved_by_run,
  life.missing_events,
  life.estimated_usd,
  basis.word as amount_basis,
  decision.verdict as decision,
  decision.reason,
  decision.who
from break_history as life
join provider_word as provider on provider.id = life.provider
join environment_word as environment on environment.id = life.environment
join store_word as store on store.id = life.store
join basis_word as basis on basis.id = life.amount_basis
left join decision on decision.break_id = life.break_id
where life.episode > 0
order by
  life.break_id,
  life.episode
