-- Movements by month: what several reports read, without reading each cell again.
select
  day.month as period,
  cell.provider,
  cell.app,
  cell.store,
  cell.product,
  cell.movement,
  sum(cell.subscriptions) as subscriptions,
  sum(cell.mrr_usd) as mrr_usd
from movement_cell as cell
join day on day.number = cell.day
group by
  day.month,
  cell.provider,
  cell.app,
  cell.store,
  cell.product,
  cell.movement
