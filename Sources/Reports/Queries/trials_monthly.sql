-- Trials by the month of their start: started = converted + expired + pending.
with sums as (
  select
    day.month as period,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    sum(cell.started) as started,
    sum(cell.converted) as converted,
    sum(cell.canceled) as canceled,
    sum(cell.expired) as expired,
    sum(cell.pending) as pending
  from trial_cell as cell
  join day on day.number = cell.day
  group by
    day.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product
)
select
  row.period,
  row.provider,
  row.app as app_id,
  row.store,
  row.product as product_id,
  row.started,
  row.converted,
  row.canceled,
  row.expired,
  row.pending,
  row.converted as conversion_rate,
  row.converted + row.expired as conversion_rate_base,
  case when row.pending = 0 and row.period < horizon.ended_month then 1 else 0 end as is_complete
from sums as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
where
  row.started <> 0
  or row.converted <> 0
  or row.canceled <> 0
  or row.expired <> 0
  or row.pending <> 0
order by row.period
