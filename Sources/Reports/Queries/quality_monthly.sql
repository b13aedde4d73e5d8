-- Events found missing, in the month in which they are missing; at as-of without a business time.
-- Sandbox purchases carry no money, and what people decided about is no longer in doubt.
with measures as (
  select
    month.number as period,
    row.provider,
    row.app_id,
    row.store,
    row.product_id,
    1 as open_breaks,
    row.missing_events,
    row.missing_events <> 0 and row.environment = 'production' as is_priced,
    row.estimated_usd,
    0 as churned_in_doubt
  from break_state as row
  cross join as_of
  join month
    on coalesce(row.expected_at, as_of.ms - 1) >= month.starts_ms
    and coalesce(row.expected_at, as_of.ms - 1) < month.ends_ms
  where row.status in ('open', 'reopened')
  union all
  select
    cell.month,
    provider.word,
    app.value,
    store.word,
    product.value,
    0,
    0,
    0,
    0,
    cell.subscriptions
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  join provider_word as provider on provider.id = cell.provider
  join string as app on app.id = cell.app
  join store_word as store on store.id = cell.store
  join string as product on product.id = cell.product
  where movement.word = 'churned_in_doubt'
)
select
  period,
  provider,
  app_id,
  store,
  product_id,
  sum(open_breaks) as open_breaks,
  sum(missing_events) as missing_events,
  case
    when count(*) filter (where is_priced and estimated_usd is null) = 0
      then sum(iif(is_priced, estimated_usd, 0))
  end as missing_usd,
  sum(churned_in_doubt) as churned_in_doubt
from measures
group by
  period,
  provider,
  app_id,
  store,
  product_id
order by
  period,
  provider,
  cell_text(app_id),
  store,
  cell_text(product_id)
