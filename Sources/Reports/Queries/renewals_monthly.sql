-- Renewals by month and ordinal; an unknown ordinal is -1 in the cells.
select
  row.month as period,
  row.provider,
  row.app as app_id,
  row.store,
  row.product as product_id,
  nullif(row.ordinal, -1) as renewal_ordinal,
  row.renewals,
  case when row.refunded <> 0 or row.provider not in (
      select provider from provider_without_refunds where product_type = 0
    ) then row.refunded end as renewals_refunded,
  row.month < horizon.settled_month as is_complete
from renewal_cell as row
join horizon on horizon.provider = row.provider and horizon.app = row.app
order by row.month
