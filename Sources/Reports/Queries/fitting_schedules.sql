-- The retry schedule of each provider that fits most deliveries; the newest, if several do.
select
  provider,
  schedule
from (
  select
    provider,
    schedule,
    row_number() over (
      partition by provider
      order by
        sum(attempt_1 + attempt_2 + attempt_3 + attempt_4 + attempt_5 + attempt_6) desc,
        schedule
    ) as place
  from delivery_cell
  group by
    provider,
    schedule
)
where place = 1
