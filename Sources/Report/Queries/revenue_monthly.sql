-- What was charged and refunded per month. An amount is known when none of its parts is missing.
with sums as (
  select
    day.month as period,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    cell.product_type,
    cell.charge_kind,
    cell.country,
    cell.storefront,
    cell.currency,
    cell.rate,
    cell.basis,
    sum(cell.charges) as charges,
    sum(cell.refunds) as refunds,
    sum(cell.gross_usd) as gross_usd,
    sum(cell.gross_usd_unknown) as gross_usd_unknown,
    sum(cell.refunds_usd) as refunds_usd,
    sum(cell.refunds_usd_unknown) as refunds_usd_unknown,
    sum(cell.proceeds_usd) as proceeds_usd,
    sum(cell.proceeds_usd_unknown) as proceeds_usd_unknown,
    sum(cell.gross_local) as gross_local,
    sum(cell.gross_local_unknown) as gross_local_unknown,
    sum(cell.refunds_local) as refunds_local,
    sum(cell.refunds_local_unknown) as refunds_local_unknown,
    sum(cell.proceeds_local) as proceeds_local,
    sum(cell.proceeds_local_unknown) as proceeds_local_unknown
  from revenue_cell as cell
  join day on day.number = cell.day
  group by
    day.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    cell.product_type,
    cell.charge_kind,
    cell.country,
    cell.storefront,
    cell.currency,
    cell.rate,
    cell.basis
)
select
  sums.period,
  sums.provider,
  sums.app as app_id,
  sums.store,
  sums.product as product_id,
  sums.product_type,
  sums.charge_kind,
  sums.country,
  sums.storefront,
  sums.currency,
  nullif(sums.rate, -1) as proceeds_rate,
  sums.basis as amount_basis,
  sums.charges,
  case when (telling.refunds = 1 or sums.refunds <> 0) then sums.refunds end as refunds,
  case when sums.basis <> 0 and sums.gross_usd_unknown = 0
    then sums.gross_usd end as gross_usd,
  case when sums.basis <> 0 and sums.refunds_usd_unknown = 0
    and (telling.refunds = 1 or sums.refunds <> 0)
    then sums.refunds_usd end as refunds_usd,
  case when sums.basis <> 0
    and sums.gross_usd_unknown = 0
    and sums.refunds_usd_unknown = 0
    then sums.gross_usd - sums.refunds_usd end as net_usd,
  case when sums.basis <> 0
    and sums.gross_usd_unknown = 0
    and sums.refunds_usd_unknown = 0
    and sums.proceeds_usd_unknown = 0
    then sums.gross_usd - sums.refunds_usd - sums.proceeds_usd end as commission_usd,
  case when sums.basis <> 0 and sums.proceeds_usd_unknown = 0
    then sums.proceeds_usd end as proceeds_usd,
  case when sums.basis <> 0 and sums.gross_local_unknown = 0
    then sums.gross_local end as gross_local,
  case when sums.basis <> 0 and sums.refunds_local_unknown = 0
    and (telling.refunds = 1 or sums.refunds <> 0)
    then sums.refunds_local end as refunds_local,
  case when sums.basis <> 0
    and sums.gross_local_unknown = 0
    and sums.refunds_local_unknown = 0
    then sums.gross_local - sums.refunds_local end as net_local,
  case when sums.basis <> 0 and sums.proceeds_local_unknown = 0
    then sums.proceeds_local end as proceeds_local,
  case when sums.period < horizon.booked_month then 1 else 0 end as is_complete
from sums
join horizon on horizon.provider = sums.provider and horizon.app = sums.app
join telling on telling.provider = sums.provider
  and telling.product_type = sums.product_type
where
  sums.charges <> 0
  or sums.refunds <> 0
  or sums.gross_usd <> 0
  or sums.gross_usd_unknown <> 0
  or sums.refunds_usd <> 0
  or sums.refunds_usd_unknown <> 0
  or sums.proceeds_usd <> 0
  or sums.proceeds_usd_unknown <> 0
  or sums.gross_local <> 0
  or sums.gross_local_unknown <> 0
  or sums.refunds_local <> 0
  or sums.refunds_local_unknown <> 0
  or sums.proceeds_local <> 0
  or sums.proceeds_local_unknown <> 0
order by sums.period
