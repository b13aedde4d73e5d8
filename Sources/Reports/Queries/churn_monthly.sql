-- Subscriptions per month: open + arrivals − departures = close. Cells hold movements only, so
-- open and close are running sums.
with months as (
  select
    row.period,
    row.provider,
    row.app,
    row.store,
    row.product,
    sum(case when movement.word = 'new' then cell.subscriptions else 0 end) as new,
    sum(case when movement.word = 'first_seen' then cell.subscriptions else 0 end) as first_seen,
    sum(case when movement.word = 'reactivated' then cell.subscriptions else 0 end) as reactivated,
    sum(case when movement.word = 'recovered' then cell.subscriptions else 0 end) as recovered,
    sum(case when movement.word = 'resumed' then cell.subscriptions else 0 end) as resumed,
    sum(case when movement.word = 'transfer_in' then cell.subscriptions else 0 end) as transfer_in,
    sum(case when movement.word = 'churned' then cell.subscriptions else 0 end) as churned,
    sum(case when movement.word = 'paused' then cell.subscriptions else 0 end) as paused,
    sum(case when movement.word = 'transfer_out' then cell.subscriptions else 0 end)
      as transfer_out,
    sum(case when movement.word = 'churned_voluntary' then cell.subscriptions else 0 end)
      as churned_voluntary,
    sum(case when movement.word = 'churned_involuntary' then cell.subscriptions else 0 end)
      as churned_involuntary,
    sum(case when movement.word = 'churned_refund' then cell.subscriptions else 0 end)
      as churned_refund,
    sum(case when movement.word = 'churned_price_increase' then cell.subscriptions else 0 end)
      as churned_price_increase,
    sum(case when movement.word = 'churned_developer' then cell.subscriptions else 0 end)
      as churned_developer,
    sum(case when movement.word = 'churned_unknown' then cell.subscriptions else 0 end)
      as churned_unknown,
    sum(case when movement.word = 'churned_in_doubt' then cell.subscriptions else 0 end)
      as churned_in_doubt,
    sum(case when movement.word = 'lost' then cell.subscriptions else 0 end) as lost,
    sum(case when movement.word = 'auto_renew_off' then cell.subscriptions else 0 end)
      as auto_renew_off,
    count(
      case
        when (movement.active <> 0 or movement.word = 'lost') and cell.subscriptions <> 0 then 1
      end
    ) as flows,
    coalesce(sum(movement.active * cell.subscriptions), 0) as change
  from movement_month as row
  left join movement_cell as cell
    on cell.month = row.period
    and cell.provider = row.provider
    and cell.app = row.app
    and cell.store = row.store
    and cell.product = row.product
  left join movement_name as movement on movement.id = cell.movement
  group by
    row.period,
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
    order by months.period
    rows between unbounded preceding and current row
  )
)
select
  row.period,
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
  case when row.period < horizon.settled_month then 1 else 0 end as is_complete
from balances as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
where
  row.flows <> 0
  or row.active_close <> 0
  or row.active_close <> row.change
  or row.off_at_close <> 0
order by row.period
