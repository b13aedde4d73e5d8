-- Renewals by month: what several reports read, without reading each cell again.
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
