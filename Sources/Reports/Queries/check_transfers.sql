-- Wrong: a store whose products take in other subscriptions than its products give away. A
-- subscription can go on with another provider, but never in another store.
with sums as (
  select
    cell.store,
    sum(case when movement.word = 'transfer_in' then cell.subscriptions else 0 end) as came,
    sum(case when movement.word = 'transfer_out' then cell.subscriptions else 0 end) as went
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  group by cell.store
)
select
  store.word || ': ' || row.came || ' transferred in, ' || row.went
    || ' out' as wrong
from sums as row
join store_name as store on store.id = row.store
where row.came <> row.went
order by row.store
