-- What is missing in the data of each feed, counted over the cells.
with revenue as (
  select
    provider,
    app,
    sum(charges) as charges,
    sum(charges) filter (
      where product_type = (select id from product_type_name where word = 'subscription')
    ) as subscription_charges,
    sum(charges) filter (
      where basis = (select id from basis_name where word = 'price_book')
    ) as listed,
    -- Without the carries of sums, which are multiples of 2^40.
    sum(((gross_usd_unknown + 549755813888) & 1099511627775) - 549755813888) as without_usd,
    sum(charges + refunds) as bookings,
    sum(((proceeds_usd_unknown + 549755813888) & 1099511627775) - 549755813888) as without_proceeds,
    sum(charges) filter (where country = 0) as without_country,
    sum(charges) filter (where storefront = 0) as without_storefront
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
    sum(renewals) filter (where ordinal = -1) as without_ordinal
  from renewal_cell
  group by
    provider,
    app
),
movement as (
  select
    provider,
    app,
    sum(subscriptions) as without_reason
  from movement_cell
  where movement = (select id from movement_name where word = 'churned_unknown')
  group by
    provider,
    app
),
delivery as (
  select
    cell.provider,
    sum(cell.distinct_events) filter (where kind.word = 'observed') as states,
    sum(cell.distinct_events) filter (where kind.word not in ('observed', 'other'))
      as single_events
  from delivery_cell as cell
  join event_kind_name as kind on kind.id = cell.kind
  group by cell.provider
),
gap as (
  select
    cell.provider,
    cell.app,
    sum(cell.events) filter (where name.word = 'unchained_charge') as unchained,
    sum(cell.events) filter (where name.word = 'open_ended_period') as open_ended,
    sum(cell.events) filter (where name.word = 'derived_end') as derived_ends,
    sum(cell.events) filter (where name.word = 'offer_without_price') as unlisted_offers,
    sum(cell.events) filter (where name.word = 'charge_without_transaction')
      as without_transaction
  from coverage_cell as cell
  join gap_name as name on name.id = cell.gap
  -- Arrivals are not gaps, and are most of the cells.
  where cell.gap <> (select id from gap_name where word = 'arrival')
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
