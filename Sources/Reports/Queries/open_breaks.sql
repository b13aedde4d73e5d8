-- Open breaks of a month when it was closed. Without identifiers: the break's id leads to
-- them as long as the ledger has them.
select
  month.number as period,
  row.id as break_id,
  row.code,
  row.status,
  row.severity,
  provider.word as provider,
  row.app as app_id,
  environment.word as environment,
  store.word as store,
  row.product_id,
  row.expected_ms as expected_at,
  row.missing_events,
  row.estimated_usd,
  basis.word as amount_basis
from break_state as row
cross join as_of
join month
  on coalesce(row.expected_ms, as_of.ms - 1) >= month.starts_ms
  and coalesce(row.expected_ms, as_of.ms - 1) < month.ends_ms
join provider_name as provider on provider.id = row.provider
join environment_name as environment on environment.id = row.environment
join store_name as store on store.id = row.store
join basis_name as basis on basis.id = row.amount_basis
where row.status in ('pending', 'open', 'reopened')
order by
  month.number,
  row.id
