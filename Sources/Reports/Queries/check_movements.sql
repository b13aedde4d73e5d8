-- Violations: months of a product in which churned is not the sum of its reasons, or less than
-- churned_in_doubt, or active subscriptions are negative at the end.
with balances as (
  select
    cell.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    sum(iif(movement.word = 'churned', cell.subscriptions, 0)) as churned,
    sum(movement.is_reason * cell.subscriptions) as reasons,
    sum(iif(movement.word = 'churned_in_doubt', cell.subscriptions, 0)) as doubted,
    sum(sum(movement.active * cell.subscriptions)) over (
      partition by cell.provider, cell.app, cell.store, cell.product order by cell.month
      rows between unbounded preceding and current row
    ) as active
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  group by
    cell.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product
)
select
  'month ' || row.month || ', ' || provider.word || ', app ' || cell_text(app.value) || ', '
    || store.word || ', ' || cell_text(product.value) || ': ' || row.churned || ' churned, '
    || row.reasons || ' with a reason, ' || row.doubted || ' in doubt, ' || row.active
    || ' active' as wrong
from balances as row
join provider_word as provider on provider.id = row.provider
join string as app on app.id = row.app
join store_word as store on store.id = row.store
join string as product on product.id = row.product
where
  row.churned <> row.reasons
  or row.doubted > row.churned
  or row.doubted < 0
  or row.active < 0
order by
  row.month,
  row.provider,
  row.app,
  row.store,
  row.product
