-- Violations: days on which trials do not convert, expire or stay pending exactly once.
select
  'day ' || row.day || ', ' || provider.word || ', app ' || cell_text(app.value) || ', '
    || cell_text(product.value) || ': ' || row.started || ' started, '
    || (row.converted + row.expired + row.pending) || ' accounted for' as wrong
from trial_cell as row
join provider_word as provider on provider.id = row.provider
join string as app on app.id = row.app
join string as product on product.id = row.product
where row.started <> row.converted + row.expired + row.pending
order by
  row.day,
  row.provider,
  row.app,
  row.store,
  row.product
