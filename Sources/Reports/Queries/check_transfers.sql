-- Wrong: an app whose products take in other subscriptions than its products give away.
with sums as (
  select
    cell.provider,
    cell.app,
    sum(case when movement.word = 'transfer_in' then cell.subscriptions else 0 end) as came,
    sum(case when movement.word = 'transfer_out' then cell.subscriptions else 0 end) as went
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  group by
    cell.provider,
    cell.app
)
select
  provider.word || ', app ' || app.word || ': ' || row.came || ' transferred in, ' || row.went
    || ' out' as wrong
from sums as row
join provider_name as provider on provider.id = row.provider
join word as app on app.id = row.app
where row.came <> row.went
order by
  row.provider,
  row.app
