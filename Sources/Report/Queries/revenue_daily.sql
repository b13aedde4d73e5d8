-- What was charged and refunded per day. An amount is known when none of its parts is missing.
-- A cell is a row already, and cells lie in the order of their days, so that sorting is cheap.
select
  cell.day as period,
  provider.word as provider,
  app.word as app_id,
  store.word as store,
  product.word as product_id,
  product_type.word as product_type,
  charge_kind.word as charge_kind,
  country.word as country,
  storefront.word as storefront,
  currency.word as currency,
  nullif(cell.rate, -1) as proceeds_rate,
  basis.word as amount_basis,
  cell.charges,
  case when (telling.refunds = 1 or cell.refunds <> 0) then cell.refunds end as refunds,
  case when basis.id <> 0 and cell.gross_usd_unknown = 0
    then cell.gross_usd end as gross_usd,
  case when basis.id <> 0 and cell.refunds_usd_unknown = 0
    and (telling.refunds = 1 or cell.refunds <> 0)
    then cell.refunds_usd end as refunds_usd,
  case when basis.id <> 0
    and cell.gross_usd_unknown = 0
    and cell.refunds_usd_unknown = 0
    then cell.gross_usd - cell.refunds_usd end as net_usd,
  case when basis.id <> 0
    and cell.gross_usd_unknown = 0
    and cell.refunds_usd_unknown = 0
    and cell.proceeds_usd_unknown = 0
    then cell.gross_usd - cell.refunds_usd - cell.proceeds_usd end as commission_usd,
  case when basis.id <> 0 and cell.proceeds_usd_unknown = 0
    then cell.proceeds_usd end as proceeds_usd,
  case when basis.id <> 0 and cell.gross_local_unknown = 0
    then cell.gross_local end as gross_local,
  case when basis.id <> 0 and cell.refunds_local_unknown = 0
    and (telling.refunds = 1 or cell.refunds <> 0)
    then cell.refunds_local end as refunds_local,
  case when basis.id <> 0
    and cell.gross_local_unknown = 0
    and cell.refunds_local_unknown = 0
    then cell.gross_local - cell.refunds_local end as net_local,
  case when basis.id <> 0 and cell.proceeds_local_unknown = 0
    then cell.proceeds_local end as proceeds_local,
  case when cell.day < horizon.booked_day then 1 else 0 end as is_complete
from revenue_cell as cell
join horizon on horizon.provider = cell.provider and horizon.app = cell.app
join provider_name as provider on provider.id = cell.provider
join word as app on app.id = cell.app
join word as product on product.id = cell.product
join word as country on country.id = cell.country
join word as storefront on storefront.id = cell.storefront
join word as currency on currency.id = cell.currency
join store_name as store on store.id = cell.store
join product_type_name as product_type on product_type.id = cell.product_type
join telling on telling.provider = cell.provider
  and telling.product_type = cell.product_type
join charge_kind_name as charge_kind on charge_kind.id = cell.charge_kind
join basis_name as basis on basis.id = cell.basis
where
  cell.charges <> 0
  or cell.refunds <> 0
  or cell.gross_usd <> 0
  or cell.gross_usd_unknown <> 0
  or cell.refunds_usd <> 0
  or cell.refunds_usd_unknown <> 0
  or cell.proceeds_usd <> 0
  or cell.proceeds_usd_unknown <> 0
  or cell.gross_local <> 0
  or cell.gross_local_unknown <> 0
  or cell.refunds_local <> 0
  or cell.refunds_local_unknown <> 0
  or cell.proceeds_local <> 0
  or cell.proceeds_local_unknown <> 0
order by
  cell.day,
  provider.word,
  app.word,
  store.word,
  product.word,
  product_type.word,
  charge_kind.word,
  country.word,
  storefront.word,
  currency.word,
  cell.rate,
  basis.word
