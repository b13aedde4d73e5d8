-- What does not agree or never came: all that is pending or open, and what was resolved at this
-- as-of, so that the same night run again says the same. A break that was last seen at a later
-- as-of is not resolved; it had not begun.
with shown as (
  select
    break.*,
    as_of.ms - break.expected_ms as age_ms
  from break
  cross join as_of
  where
    break.status in ('pending', 'open')
    or (
      break.status = 'resolved'
      and break.last_seen_ms <= as_of.ms
      and (
        break.resolved_run = as_of.run
        or break.resolved_run in (select run.id from run where run.as_of_ms = as_of.ms)
      )
    )
)
select
  row.id as break_id,
  row.code,
  row.status,
  row.severity,
  provider.word as provider,
  row.app as app_id,
  environment.word as environment,
  store.word as store,
  row.user_id,
  row.subscription_id,
  row.transaction_id,
  row.product_id,
  row.expected_ms as expected_at,
  row.first_seen_ms as first_seen_at,
  row.last_seen_ms as last_seen_at,
  case when row.age_ms < 0 then 0 else row.age_ms end as age_days,
  row.settles_ms as settles_at,
  row.evidence_expires_ms as evidence_expires_at,
  row.missing_events,
  row.estimated_usd,
  basis.word as amount_basis,
  row.evidence,
  row.action
from shown as row
join provider_name as provider on provider.id = row.provider
join environment_name as environment on environment.id = row.environment
join store_name as store on store.id = row.store
join basis_name as basis on basis.id = row.amount_basis
order by row.id
