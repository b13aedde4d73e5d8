-- What is missing in the data of each feed, counted over the cells.
with revenue as (
  select
    provider,
    app,
    sum(charges) as charges,
    sum(
      case
        when product_type = (
          select name.id from product_type_name as name where name.word = 'subscription'
        ) then charges
        else 0
      end
    ) as subscription_charges,
    sum(
      case
        when basis = (select name.id from basis_name as name where name.word = 'price_book')
          then charges
        else 0
      end
    ) as listed,
    -- Without the carries of sums, which are multiples of 2^40.
    sum(((gross_usd_unknown + 549755813888) & 1099511627775) - 549755813888) as without_usd,
    sum(charges + refunds) as bookings,
    sum(((proceeds_usd_unknown + 549755813888) & 1099511627775) - 549755813888) as without_proceeds,
    sum(case when country = 0 then charges else 0 end) as without_country,
    sum(case when storefront = 0 then charges else 0 end) as without_storefront
  from revenue_month_cell
  group by
    provider,
    app
),
renewal as (
  select
    provider,
    app,
    sum(renewals) as renewals,
    sum(case when ordinal = -1 then renewals else 0 end) as without_ordinal
  from renewal_cell
  group by
    provider,
    app
),
movement as (
  select
    cell.provider,
    cell.app,
    sum(cell.subscriptions) as without_reason
  from movement_cell as cell
  where cell.movement = (
    select name.id from movement_name as name where name.word = 'churned_unknown'
  )
  group by
    cell.provider,
    cell.app
),
delivery as (
  select
    cell.provider,
    sum(case when kind.word = 'observed' then cell.distinct_events else 0 end) as states,
    sum(
      case when kind.word in ('observed', 'other') then 0 else cell.distinct_events end
    ) as single_events
  from delivery_cell as cell
  join event_kind_name as kind on kind.id = cell.kind
  group by cell.provider
),
gap as (
  select
    cell.provider,
    cell.app,
    sum(case when name.word = 'unchained_charge' then cell.events else 0 end) as unchained,
    sum(case when name.word = 'open_ended_period' then cell.events else 0 end) as open_ended,
    sum(case when name.word = 'derived_end' then cell.events else 0 end) as derived_ends,
    sum(
      case when name.word = 'offer_without_price' then cell.events else 0 end
    ) as unlisted_offers,
    sum(
      case when name.word = 'charge_without_transaction' then cell.events else 0 end
    ) as without_transaction
  from coverage_cell as cell
  join gap_name as name on name.id = cell.gap
  -- Arrivals are not gaps, and are most of the cells.
  where cell.gap <> (select other.id from gap_name as other where other.word = 'arrival')
  group by
    cell.provider,
    cell.app
)
select
  horizon.provider,
  horizon.app,
  coalesce(revenue.charges, 0) as charges,
  coalesce(revenue.subscription_charges, 0) as subscription_charges,
  coalesce(revenue.listed, 0) as listed,
  coalesce(revenue.without_usd, 0) as without_usd,
  coalesce(revenue.bookings, 0) as bookings,
  coalesce(revenue.without_proceeds, 0) as without_proceeds,
  coalesce(revenue.without_country, 0) as without_country,
  coalesce(revenue.without_storefront, 0) as without_storefront,
  coalesce(renewal.renewals, 0) as renewals,
  coalesce(renewal.without_ordinal, 0) as without_ordinal,
  coalesce(movement.without_reason, 0) as without_reason,
  coalesce(gap.unchained, 0) as unchained,
  coalesce(gap.open_ended, 0) as open_ended,
  coalesce(gap.derived_ends, 0) as derived_ends,
  coalesce(delivery.states, 0) as states,
  coalesce(delivery.single_events, 0) as single_events,
  coalesce(gap.unlisted_offers, 0) as unlisted_offers,
  coalesce(gap.without_transaction, 0) as without_transaction,
  exists (
    select 1 from snapshot
    where snapshot.provider = horizon.provider and snapshot.captured_ms <= as_of.ms
  ) as has_snapshots
from horizon
cross join as_of
left join revenue on revenue.provider = horizon.provider and revenue.app = horizon.app
left join renewal on renewal.provider = horizon.provider and renewal.app = horizon.app
left join movement on movement.provider = horizon.provider and movement.app = horizon.app
left join delivery on delivery.provider = horizon.provider
left join gap on gap.provider = horizon.provider and gap.app = horizon.app
order by
  horizon.provider,
  horizon.app
