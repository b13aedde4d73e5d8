-- Events that carry no money in the other reports, and why.
select
  day.month as period,
  cell.provider,
  cell.app as app_id,
  cell.reason,
  sum(cell.events) as events,
  sum(cell.charges) as charges
from excluded_cell as cell
join day on day.number = cell.day
group by
  day.month,
  cell.provider,
  cell.app,
  cell.reason
order by day.month
