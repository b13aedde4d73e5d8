-- Every break that any run saw, one row per episode. A break that was resolved and came
-- back keeps its earlier rows; the latest row of an unresolved break has its current state.
-- An event that only arrived late was resolved by the run that saw it.
select
  episode.break_id,
  episode.episode,
  episode.code,
  case
    when episode.resolved_ms is not null or episode.status = 'resolved' then 'resolved'
    when decision.verdict is not null then decision.verdict
    when episode.status = 'open' and episode.episode > 1 then 'reopened'
    else episode.status
  end as status,
  episode.severity,
  provider.word as provider,
  episode.app as app_id,
  environment.word as environment,
  store.word as store,
  episode.user_id,
  episode.subscription_id,
  episode.transaction_id,
  episode.product_id,
  episode.expected_ms as expected_at,
  episode.first_seen_ms as first_seen_at,
  episode.last_seen_ms as last_seen_at,
  iif(episode.status = 'resolved', episode.first_seen_ms, episode.resolved_ms) as resolved_at,
  iif(episode.status = 'resolved', episode.first_run, episode.resolved_run) as resolved_by_run,
  episode.missing_events,
  episode.estimated_usd,
  basis.word as amount_basis,
  decision.verdict as decision,
  decision.reason,
  decision.who
from break_history as episode
join provider_word as provider on provider.id = episode.provider
join environment_word as environment on environment.id = episode.environment
join store_word as store on store.id = episode.store
join basis_word as basis on basis.id = episode.amount_basis
left join decision on decision.break_id = episode.break_id
where episode.episode > 0
order by
  episode.break_id,
  episode.episode
