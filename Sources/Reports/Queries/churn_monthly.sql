-- Subscriptions per month: open + arrivals − departures = close, which are running sums of cells.
with months as (
  select
    row.month as period,
    row.provider,
    row.app as app_id,
    row.store,
    row.product as product_id,
    sum(iif(movement.word = 'new', cell.subscriptions, 0)) as new,
    sum(iif(movement.word = 'first_seen', cell.subscriptions, 0)) as first_seen,
    sum(iif(movement.word = 'reactivated', cell.subscriptions, 0)) as reactivated,
    sum(iif(movement.word = 'recovered', cell.subscriptions, 0)) as recovered,
    sum(iif(movement.word = 'resumed', cell.subscriptions, 0)) as resumed,
    sum(iif(movement.word = 'transfer_in', cell.subscriptions, 0)) as transfer_in,
    sum(iif(movement.word = 'churned', cell.subscriptions, 0)) as churned,
    sum(iif(movement.word = 'paused', cell.subscriptions, 0)) as paused,
    sum(iif(movement.word = 'transfer_out', cell.subscriptions, 0)) as transfer_out,
    sum(iif(movement.word = 'churned_voluntary', cell.subscriptions, 0)) as churned_voluntary,
    sum(iif(movement.word = 'churned_involuntary', cell.subscriptions, 0)) as churned_involuntary,
    sum(iif(movement.word = 'churned_refund', cell.subscriptions, 0)) as churned_refund,
    sum(iif(movement.word = 'churned_price_increase', cell.subscriptions, 0))
      as churned_price_increase,
    sum(iif(movement.word = 'churned_developer', cell.subscriptions, 0)) as churned_developer,
    sum(iif(movement.word = 'churned_unknown', cell.subscriptions, 0)) as churned_unknown,
    sum(iif(movement.word = 'churned_in_doubt', cell.subscriptions, 0)) as churned_in_doubt,
    sum(iif(movement.word = 'lost', cell.subscriptions, 0)) as lost,
    count(*) filter (
      where (movement.active <> 0 or movement.word = 'lost') and cell.subscriptions <> 0
    ) as flows,
    coalesce(sum(movement.active * cell.subscriptions), 0) as change,
    sum(sum(movement.active * cell.subscriptions)) over balance as active_close,
    sum(sum(iif(movement.word = 'auto_renew_off', cell.subscriptions, 0))) over balance
      as auto_renew_off
  from movement_month as row
  left join movement_cell as cell using (month, provider, app, store, product)
  left join movement_name as movement on movement.id = cell.movement
  group by
    row.month,
    row.provider,
    row.app,
    row.store,
    row.product
  window balance as (
    partition by row.provider, row.app, row.store, row.product
    order by row.month
    rows between unbounded preceding and current row
  )
)
select
  row.*,
  row.active_close - row.change as active_open,
  row.lost as churn_rate,
  row.active_close - row.change as churn_rate_base,
  row.churned - row.reactivated - row.recovered as churn_rate_revenuecat,
  row.active_close - row.change as churn_rate_revenuecat_base,
  row.period < horizon.settled_month as is_complete
from months as row
join horizon on horizon.provider = row.provider and horizon.app = row.app_id
where
  row.flows <> 0
  or row.active_close <> 0
  or row.auto_renew_off <> 0
order by row.period
