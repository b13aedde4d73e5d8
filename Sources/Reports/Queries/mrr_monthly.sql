-- Recurring revenue per month: open + arrivals − departures = close, running sums of cells.
with months as (
  select
    row.month as period,
    row.provider,
    row.app as app_id,
    row.store,
    row.product as product_id,
    sum(iif(movement.word = 'new', cell.mrr_usd, 0)) as new,
    sum(iif(movement.word = 'first_seen', cell.mrr_usd, 0)) as first_seen,
    sum(iif(movement.word = 'reactivated', cell.mrr_usd, 0)) as reactivated,
    sum(iif(movement.word = 'recovered', cell.mrr_usd, 0)) as recovered,
    sum(iif(movement.word = 'resumed', cell.mrr_usd, 0)) as resumed,
    sum(iif(movement.word = 'expansion', cell.mrr_usd, 0)) as expansion,
    sum(iif(movement.word = 'contraction', cell.mrr_usd, 0)) as contraction,
    sum(iif(movement.word = 'transfer_in', cell.mrr_usd, 0)) as transfer_in,
    sum(iif(movement.word = 'churned', cell.mrr_usd, 0)) as churned,
    sum(iif(movement.word = 'paused', cell.mrr_usd, 0)) as paused,
    sum(iif(movement.word = 'transfer_out', cell.mrr_usd, 0)) as transfer_out,
    sum(iif(movement.word = 'fx', cell.mrr_usd, 0)) as fx,
    count(*) filter (where movement.mrr <> 0 and cell.mrr_usd <> 0) as flows,
    coalesce(sum(movement.mrr * cell.mrr_usd), 0) as change,
    sum(sum(movement.mrr * cell.mrr_usd)) over (
      partition by row.provider, row.app, row.store, row.product
      order by row.month
      rows between unbounded preceding and current row
    ) as mrr_close
  from movement_month as row
  left join movement_cell as cell using (month, provider, app, store, product)
  left join movement_name as movement on movement.id = cell.movement
  group by
    row.month,
    row.provider,
    row.app,
    row.store,
    row.product
)
select
  row.*,
  row.mrr_close - row.change as mrr_open,
  12 * row.mrr_close as arr_close,
  case when row.period < horizon.settled_month then 1 else 0 end as is_complete
from months as row
join horizon on horizon.provider = row.provider and horizon.app = row.app_id
where
  row.flows <> 0
  or row.mrr_close <> 0
order by row.period
