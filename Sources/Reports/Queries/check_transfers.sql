-- Wrong: an app whose products take in other subscriptions than its products give away. Where a
-- subscription can go on with another provider, the apps of all that it can go on with are one.
with linked as (
  select distinct
    lineage.provider,
    lineage.app
  from lineage_link
  join lineage on lineage.key = lineage_link.lineage
),
sums as (
  select
    case when linked.app is null then cell.provider end as provider,
    case when linked.app is null then cell.app end as app,
    cell.store,
    sum(case when movement.word = 'transfer_in' then cell.subscriptions else 0 end) as came,
    sum(case when movement.word = 'transfer_out' then cell.subscriptions else 0 end) as went
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  left join linked on linked.provider = cell.provider and linked.app = cell.app
  where movement.word in ('transfer_in', 'transfer_out')
  group by
    1,
    2,
    3
)
select
  coalesce(provider.word || ', app ' || app.word, 'several providers') || ', ' || store.word || ': '
    || row.came || ' transferred in, ' || row.went || ' out' as wrong
from sums as row
join store_name as store on store.id = row.store
left join provider_name as provider on provider.id = row.provider
left join word as app on app.id = row.app
where row.came <> row.went
order by
  row.provider,
  row.app,
  row.store
