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
  provider.word as provider,
  app.word as app_id,
  reason.word as reason,
  row.events,
  row.charges
from sums as row
join provider_name as provider on provider.id = row.provider
join word as app on app.id = row.app
join exclusion_name as reason on reason.id = row.reason
where
  row.events <> 0
  or row.charges <> 0
order by
  row.period,
  provider.word,
  app.word,
  reason.word
