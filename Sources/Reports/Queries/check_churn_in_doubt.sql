-- Wrong: a month in which more are in doubt than churned.
with sums as (
  select
    cell.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    sum(case when movement.word = 'churned' then cell.subscriptions else 0 end) as churned,
    sum(case when movement.word = 'churned_in_doubt' then cell.subscriptions else 0 end) as doubted
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  where movement.word in ('churned', 'churned_in_doubt')
  group by
    cell.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product
)
select
  'month ' || row.month || ', ' || provider.word || ', app ' || app.word || ', ' || store.word
    || ', ' || product.word || ': ' || row.churned || ' churned, ' || row.doubted
    || ' in doubt' as wrong
from sums as row
join provider_name as provider on provider.id = row.provider
join word as app on app.id = row.app
join store_name as store on store.id = row.store
join word as product on product.id = row.product
where row.doubted > row.churned or row.doubted < 0
order by
  row.month,
  row.provider,
  row.app,
  row.store,
  row.product
