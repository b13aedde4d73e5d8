-- The breaks in the reports of this as-of: all that this run saw, and what a run of it resolved, so
-- that repeating a run gives the same. A break seen only at later as-ofs had not begun.
with episodes as (
  select
    episode.break_id,
    min(episode.first_seen_ms) as first_seen_ms,
    max(case when episode.resolved_ms <= as_of.ms then 1 else 0 end) as was_resolved,
    max(case when episode.resolved_ms = as_of.ms then episode.last_seen_ms end) as resolved_seen_ms
  from break_episode as episode
  cross join as_of
  where episode.episode > 0
  group by episode.break_id
)
select
  break.break_id,
  break.code,
  case
    when break.last_run <> as_of.run then 'resolved'
    when decision.verdict is not null then decision.verdict
    when break.status = 'open' and episodes.was_resolved = 1 then 'reopened'
    else break.status
  end as status,
  break.severity,
  break.provider as provider_id,
  provider.word as provider,
  break.app as app_id,
  environment.word as environment,
  store.word as store,
  break.user as user_key,
  break.user_id,
  break.customer_id,
  break.subscription_id,
  break.transaction_id,
  break.product_id,
  break.expected_ms as expected_at,
  min(episodes.first_seen_ms, as_of.ms) as first_seen_at,
  iif(break.last_run = as_of.run, as_of.ms, episodes.resolved_seen_ms) as last_seen_at,
  break.settles_ms as settles_at,
  break.evidence_expires_ms as evidence_expires_at,
  break.missing_events,
  break.estimated_usd,
  basis.word as amount_basis,
  break.evidence,
  iif(break.last_run = as_of.run, break.action, 'nothing; later input explains it') as action
from break
join episodes on episodes.break_id = break.id
cross join as_of
join provider_word as provider on provider.id = break.provider
join environment_word as environment on environment.id = break.environment
join store_word as store on store.id = break.store
join basis_word as basis on basis.id = break.amount_basis
left join decision on decision.break_id = break.id
where
  break.last_run = as_of.run
  or episodes.resolved_seen_ms is not null
