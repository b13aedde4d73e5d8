-- Every break that any run saw, one row for each time that it came. What was resolved and came
-- back keeps its earlier rows; the latest row of a break that no run resolved says what it is now.
-- What only came late was resolved by the run that saw it.
select
  break.id as break_id,
  life.episode,
  break.code,
  case
    when life.resolved_ms is not null or break.status = 'resolved' then 'resolved'
    when decision.verdict is not null then decision.verdict
    when break.status = 'open' and life.episode > 1 then 'reopened'
    else break.status
  end as status,
  break.severity,
  provider.word as provider,
  break.app as app_id,
  environment.word as environment,
  store.word as store,
  break.user_id,
  break.subscription_id,
  break.transaction_id,
  break.product_id,
  break.expected_ms as expected_at,
  life.first_seen_ms as first_seen_at,
  life.last_seen_ms as last_seen_at,
  case when break.status = 'resolved' then life.first_seen_ms else life.resolved_ms end
    as resolved_at,
  case when break.status = 'resolved' then life.first_run else life.resolved_run end
    as resolved_by_run,
  break.missing_events,
  break.estimated_usd,
  basis.word as amount_basis,
  decision.verdict as decision,
  decision.reason,
  decision.who
from break
join break_episode as life on life.break_id = break.id
join provider_name as provider on provider.id = break.provider
join environment_name as environment on environment.id = break.environment
join store_name as store on store.id = break.store
join basis_name as basis on basis.id = break.amount_basis
left join decision on decision.break_id = break.id
order by
  break.id,
  life.episode
