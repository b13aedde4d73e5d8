-- Events that reconciliation found missing, in the month in which they are missing. A break
-- without a business time counts at as-of. Sandbox purchases never carry money. What people
-- decided about is no longer in doubt.
with measures as (
  select
    month.number as period,
    row.provider,
    row.app,
    row.store,
    row.product_id,
    1 as open_breaks,
    row.missing_events,
    case
      when row.missing_events <> 0 and row.environment = 0 then coalesce(row.estimated_usd, 0)
      else 0
    end as missing_usd,
    case
      when row.missing_events <> 0 and row.environment = 0 and row.estimated_usd is null then 1
      else 0
    end as missing_usd_unknown,
    0 as churned_in_doubt
  from break_state as row
  cross join as_of
  join month
    on coalesce(row.expected_ms, as_of.ms - 1) >= month.starts_ms
    and coalesce(row.expected_ms, as_of.ms - 1) < month.ends_ms
  where row.status in ('open', 'reopened')
  union all
  select
    cell.month,
    cell.provider,
    app.value,
    cell.store,
    product.value,
    0,
    0,
    0,
    0,
    cell.subscriptions
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  join string as app on app.id = cell.app
  join string as product on product.id = cell.product
  where movement.word = 'churned_in_doubt'
),
months as (
  select
    period,
    provider,
    app,
    store,
    product_id,
    sum(open_breaks) as open_breaks,
    sum(missing_events) as missing_events,
    sum(missing_usd) as missing_usd,
    sum(missing_usd_unknown) as missing_usd_unknown,
    sum(churned_in_doubt) as churned_in_doubt
  from measures
  group by
    period,
    provider,
    app,
    store,
    product_id
)
select
  row.period,
  provider.word as provider,
  row.app as app_id,
  store.word as store,
  row.product_id,
  row.open_breaks,
  row.missing_events,
  case when row.missing_usd_unknown = 0 then row.missing_usd end as missing_usd,
  row.churned_in_doubt
from months as row
join provider_name as provider on provider.id = row.provider
join store_name as store on store.id = row.store
order by
  row.period,
  provider.word,
  cell_text(row.app),
  store.word,
  cell_text(row.product_id)
