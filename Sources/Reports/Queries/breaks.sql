-- Differences and missing events: all that are pending or open, and those resolved at this
-- as-of. Decided breaks are only in the history.
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
  case
    when row.expected_ms > as_of.ms then 0
    else as_of.ms - row.expected_ms
  end as age_days,
  row.settles_ms as settles_at,
  row.evidence_expires_ms as evidence_expires_at,
  row.missing_events,
  row.estimated_usd,
  basis.word as amount_basis,
  row.evidence,
  row.action,
  row.customer_id
from break_state as row
cross join as_of
join provider_name as provider on provider.id = row.provider
join environment_name as environment on environment.id = row.environment
join store_name as store on store.id = row.store
join basis_name as basis on basis.id = row.amount_basis
where row.status in ('pending', 'open', 'reopened', 'resolved')
order by row.id
