-- Renewals per month and number of the renewal; an unknown number is -1 in the cells.
with sums as (
  select
    day.month as period,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    cell.ordinal,
    sum(cell.renewals) as renewals,
    sum(cell.refunded) as refunded
  from renewal_cell as cell
  join day on day.number = cell.day
  group by
    day.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    cell.ordinal
)
select
  row.period,
  provider.word as provider,
  app.word as app_id,
  store.word as store,
  product.word as product_id,
  nullif(row.ordinal, -1) as renewal_ordinal,
  row.renewals,
  case when telling.refunds = 1 or row.refunded <> 0
    then row.refunded end as renewals_refunded,
  case when row.period < horizon.settled_month then 1 else 0 end as is_complete
from sums as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
join telling on telling.provider = row.provider and telling.product_type = 0
join provider_name as provider on provider.id = row.provider
join word as app on app.id = row.app
join store_name as store on store.id = row.store
join word as product on product.id = row.product
where
  row.renewals <> 0
  or row.refunded <> 0
order by
  row.period,
  provider.word,
  app.word,
  store.word,
  product.word,
  row.ordinal
