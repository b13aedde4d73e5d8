-- Charges of a store transaction that several providers report, as each reported it.
select
  store.word as store,
  row.transaction_id,
  counted.word as counted_provider,
  other.word as other_provider,
  case
    when user.id is null then lineage.original
    else replace(lineage.original, printf('%016x', lineage.user), user.id)
  end as subscription_id,
  row.counted_usd,
  row.other_usd,
  row.counted_usd - row.other_usd as difference
from overlap as row
join store_word as store on store.id = row.store
join provider_word as counted on counted.id = row.counted_provider
join provider_word as other on other.id = row.other_provider
left join lineage on lineage.key = row.lineage
left join user on user.key = lineage.user
order by
  store.word,
  row.transaction_id,
  counted.word,
  other.word
