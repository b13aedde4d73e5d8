-- Wrong: a product that has fewer than no active subscriptions at the end of a month.
with changes as (
  select
    cell.month as period,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    sum(movement.active * cell.subscriptions) as change
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  group by
    cell.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product
),
balances as (
  select
    changes.*,
    sum(change) over (
      partition by provider, app, store, product order by period
      rows between unbounded preceding and current row
    ) as active
  from changes
)
select
  'month ' || row.period || ', ' || provider.word || ', app ' || app.word || ', ' || store.word
    || ', ' || product.word || ': ' || row.active || ' active' as wrong
from balances as row
join provider_name as provider on provider.id = row.provider
join word as app on app.id = row.app
join store_name as store on store.id = row.store
join word as product on product.id = row.product
where row.active < 0
order by
  row.period,
  row.provider,
  row.app,
  row.store,
  row.product
