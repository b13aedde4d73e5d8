-- Trials by the month of their start: started = converted + expired + pending.
select
  day.month as period,
  cell.provider,
  cell.app as app_id,
  cell.store,
  cell.product as product_id,
  sum(cell.started) as started,
  sum(cell.converted) as converted,
  sum(cell.canceled) as canceled,
  sum(cell.expired) as expired,
  sum(cell.pending) as pending,
  sum(cell.converted) as conversion_rate,
  sum(cell.converted + cell.expired) as conversion_rate_base,
  sum(cell.pending) = 0 and day.month < horizon.ended_month as is_complete
from trial_cell as cell
join day on day.number = cell.day
join horizon on horizon.provider = cell.provider and horizon.app = cell.app
group by
  day.month,
  cell.provider,
  cell.app,
  cell.store,
  cell.product
order by day.month
