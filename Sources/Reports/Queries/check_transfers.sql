-- Violations: apps in which more subscriptions arrive at products than leave other products. If a
-- subscription can continue with another provider, the apps of all these providers count as one:
-- all apps of its provider if the subscription has no app, because it counts in the one that fits.
with linked as (
  select distinct
    lineage.provider,
    lineage.app
  from lineage_link
  join lineage on lineage.key = lineage_link.lineage
),
sums as (
  select
    iif(coalesce(named.app, nameless.app) is null, cell.provider, null) as provider,
    iif(coalesce(named.app, nameless.app) is null, cell.app, null) as app,
    cell.store,
    sum(iif(movement.word = 'transfer_in', cell.subscriptions, 0)) as came,
    sum(iif(movement.word = 'transfer_out', cell.subscriptions, 0)) as went
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  left join linked as named on named.provider = cell.provider and named.app = cell.app
  left join linked as nameless on nameless.provider = cell.provider and nameless.app = 0
  group by 1, 2, 3
)
select
  coalesce(provider.word || ', app ' || cell_text(app.value), 'several providers') || ', '
    || store.word || ': ' || row.came || ' transferred in, ' || row.went || ' out' as wrong
from sums as row
join store_word as store on store.id = row.store
left join provider_word as provider on provider.id = row.provider
left join string as app on app.id = row.app
where row.came <> row.went
order by
  row.provider,
  row.app,
  row.store
