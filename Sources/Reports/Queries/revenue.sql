-- Charges and refunds by day, or by month with the cells of months; of all periods, or from one on.
-- An amount is known if none of its parts is missing; where the provider sends no refunds, having
-- none is not known. Each cell is a row, stored in the order of days, so nothing is sorted.
select
  cell.day as period,
  cell.provider,
  cell.app as app_id,
  cell.store,
  cell.product as product_id,
  cell.product_type,
  cell.charge_kind,
  cell.country,
  cell.storefront,
  cell.currency,
  nullif(cell.rate, -1) as proceeds_rate,
  cell.basis as amount_basis,
  cell.charges,
  case when cell.refunds <> 0 or silent.provider is null then cell.refunds end as refunds,
  case when cell.basis <> 0 and cell.gross_usd_unknown = 0
    then cell.gross_usd end as gross_usd,
  case when cell.basis <> 0 and cell.refunds_usd_unknown = 0
    and (cell.refunds <> 0 or silent.provider is null)
    then cell.refunds_usd end as refunds_usd,
  case when cell.basis <> 0
    and cell.gross_usd_unknown = 0
    and cell.refunds_usd_unknown = 0
    then cell.gross_usd - cell.refunds_usd end as net_usd,
  case when cell.basis <> 0
    and cell.gross_usd_unknown = 0
    and cell.refunds_usd_unknown = 0
    and cell.proceeds_usd_unknown = 0
    then cell.gross_usd - cell.refunds_usd - cell.proceeds_usd end as commission_usd,
  case when cell.basis <> 0 and cell.proceeds_usd_unknown = 0
    then cell.proceeds_usd end as proceeds_usd,
  case when cell.basis <> 0 and cell.gross_local_unknown = 0
    then cell.gross_local end as gross_local,
  case when cell.basis <> 0 and cell.refunds_local_unknown = 0
    and (cell.refunds <> 0 or silent.provider is null)
    then cell.refunds_local end as refunds_local,
  case when cell.basis <> 0
    and cell.gross_local_unknown = 0
    and cell.refunds_local_unknown = 0
    then cell.gross_local - cell.refunds_local end as net_local,
  case when cell.basis <> 0 and cell.proceeds_local_unknown = 0
    then cell.proceeds_local end as proceeds_local,
  cell.day < horizon.booked_day as is_complete
from revenue_cell as cell
join horizon on horizon.provider = cell.provider and horizon.app = cell.app
left join provider_without_refunds as silent using (provider, product_type)
where cell.day >= ifnull(?, -2147483648)
order by cell.day
