-- Monthly recurring revenue: open + arrivals − departures = close. Cells hold movements only, so
-- open and close are running sums.
with months as (
  select
    row.period,
    row.provider,
    row.app,
    row.store,
    row.product,
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
    count(case when movement.mrr <> 0 and cell.mrr_usd <> 0 then 1 end) as flows,
    coalesce(sum(movement.mrr * cell.mrr_usd), 0) as change
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
  row.flows <> 0
  or row.mrr_close <> 0
  or row.mrr_close <> row.change
order by row.period
