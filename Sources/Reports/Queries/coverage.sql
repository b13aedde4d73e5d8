-- Which metrics of each feed are measured, estimated or not available, and why.
select
  provider.word as provider,
  cell_text(app.value) as app_id,
  row.metric,
  row.coverage,
  row.events,
  row.why
from coverage_row as row
join provider_word as provider on provider.id = row.provider
join string as app on app.id = row.app
order by
  provider.word,
  cell_text(app.value),
  row.metric
