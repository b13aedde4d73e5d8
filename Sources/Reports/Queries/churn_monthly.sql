-- Subscriptions per month: open + arrivals − departures = close. Cells hold movements only, so
-- open and close are running sums.
with months as (
  select
    row.month,
    row.provider,
    row.app,
    row.store,
    row.product,
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
    sum(iif(movement.word = 'auto_renew_off', cell.subscriptions, 0)) as auto_renew_off,
    count(*) filter (
      where (movement.active <> 0 or movement.word = 'lost') and cell.subscriptions <> 0
    ) as flows,
    coalesce(sum(movement.active * cell.subscriptions), 0) as change
  from movement_month as row
  left join movement_cell as cell using (month, provider, app, store, product)
  left join movement_name as movement on movement.id = cell.movement
  group by
    row.month,
    row.provider,
    row.app,
    row.store,
    row.product
),
balances as (
  select
    months.*,
    sum(change) over balance as active_close,
    sum(auto_renew_off) over balance as off_at_close
  from months
  window balance as (
    partition by months.provider, months.app, months.store, months.product
    order by months.month
    rows between unbounded preceding and current row
  )
)
select
  row.month as period,
  row.provider,
  row.app as app_id,
  row.store,
  row.product as product_id,
  row.active_close - row.change as active_open,
  row.new,
  row.first_seen,
  row.reactivated,
  row.recovered,
  row.resumed,
  row.transfer_in,
  row.churned,
  row.paused,
  row.transfer_out,
  row.active_close,
  row.churned_voluntary,
  row.churned_involuntary,
  row.churned_refund,
  row.churned_price_increase,
  row.churned_developer,
  row.churned_unknown,
  row.churned_in_doubt,
  row.lost,
  row.lost as churn_rate,
  row.active_close - row.change as churn_rate_base,
  row.churned - row.reactivated - row.recovered as churn_rate_revenuecat,
  row.active_close - row.change as churn_rate_revenuecat_base,
  row.off_at_close as auto_renew_off,
  case when row.month < horizon.settled_month then 1 else 0 end as is_complete
from balances as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
where
  row.flows <> 0
  or row.active_close <> 0
  or row.active_close <> row.change
  or row.off_at_close <> 0
order by row.month
