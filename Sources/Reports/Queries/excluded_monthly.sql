-- Events that carry no money in the other reports, and why.
with sums as (
  select
    day.month as period,
    cell.provider,
    cell.app,
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
)
select
  row.period,
  row.provider,
  row.app as app_id,
  row.reason,
  row.events,
  row.charges
from sums as row
where
  row.events <> 0
  or row.charges <> 0
order by row.period
