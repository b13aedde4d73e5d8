-- Monthly recurring revenue: open + what came − what went = close. Cells hold movements only, so
-- open and close are running sums.
with flows as (
  select
    cell.month as period,
    cell.provider,
    cell.app,
    cell.store,
    cell.product,
    sum(case when movement.word = 'new' then cell.mrr_usd else 0 end) as new,
    sum(case when movement.word = 'first_seen' then cell.mrr_usd else 0 end) as first_seen,
    sum(case when movement.word = 'reactivated' then cell.mrr_usd else 0 end) as reactivated,
    sum(case when movement.word = 'recovered' then cell.mrr_usd else 0 end) as recovered,
    sum(case when movement.word = 'resumed' then cell.mrr_usd else 0 end) as resumed,
    sum(case when movement.word = 'expansion' then cell.mrr_usd else 0 end) as expansion,
    sum(case when movement.word = 'contraction' then cell.mrr_usd else 0 end) as contraction,
    sum(case when movement.word = 'transfer_in' then cell.mrr_usd else 0 end) as transfer_in,
    sum(case when movement.word = 'churned' then cell.mrr_usd else 0 end) as churned,
    sum(case when movement.word = 'paused' then cell.mrr_usd else 0 end) as paused,
    sum(case when movement.word = 'transfer_out' then cell.mrr_usd else 0 end) as transfer_out,
    sum(case when movement.word = 'fx' then cell.mrr_usd else 0 end) as fx,
    sum(movement.mrr * cell.mrr_usd) as change
  from movement_cell as cell
  join movement_name as movement on movement.id = cell.movement
  group by
    cell.month,
    cell.provider,
    cell.app,
    cell.store,
    cell.product
),
months as (
  select
    row.period,
    row.provider,
    row.app,
    row.store,
    row.product,
    coalesce(flows.new, 0) as new,
    coalesce(flows.first_seen, 0) as first_seen,
    coalesce(flows.reactivated, 0) as reactivated,
    coalesce(flows.recovered, 0) as recovered,
    coalesce(flows.resumed, 0) as resumed,
    coalesce(flows.expansion, 0) as expansion,
    coalesce(flows.contraction, 0) as contraction,
    coalesce(flows.transfer_in, 0) as transfer_in,
    coalesce(flows.churned, 0) as churned,
    coalesce(flows.paused, 0) as paused,
    coalesce(flows.transfer_out, 0) as transfer_out,
    coalesce(flows.fx, 0) as fx,
    coalesce(flows.change, 0) as change
  from movement_month as row
  left join flows
    on flows.period = row.period
    and flows.provider = row.provider
    and flows.app = row.app
    and flows.store = row.store
    and flows.product = row.product
),
balances as (
  select
    months.*,
    sum(change) over (
      partition by
        months.provider, months.app, months.store, months.product
      order by months.period
      rows between unbounded preceding and current row
    ) as mrr_close
  from months
)
select
  row.period,
  row.provider,
  row.app as app_id,
  row.store,
  row.product as product_id,
  row.mrr_close - row.change as mrr_open,
  row.new,
  row.first_seen,
  row.reactivated,
  row.recovered,
  row.resumed,
  row.expansion,
  row.contraction,
  row.transfer_in,
  row.churned,
  row.paused,
  row.transfer_out,
  row.fx,
  row.mrr_close,
  12 * row.mrr_close as arr_close,
  case when row.period < horizon.settled_month then 1 else 0 end as is_complete
from balances as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
where
  row.mrr_close - row.change <> 0
  or row.mrr_close <> 0
  or row.new <> 0
  or row.first_seen <> 0
  or row.reactivated <> 0
  or row.recovered <> 0
  or row.resumed <> 0
  or row.expansion <> 0
  or row.contraction <> 0
  or row.transfer_in <> 0
  or row.churned <> 0
  or row.paused <> 0
  or row.transfer_out <> 0
  or row.fx <> 0
order by row.period
