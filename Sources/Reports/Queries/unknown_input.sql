-- Names in bodies without a known meaning, with the first archive, by path, that contains each.
with placed as (
  select
    unknown.provider,
    unknown.what,
    unknown.name,
    archive.name as first_archive,
    unknown.first_line,
    sum(unknown.lines) over (
      partition by unknown.provider, unknown.what, unknown.name
    ) as lines,
    row_number() over (
      partition by unknown.provider, unknown.what, unknown.name
      order by cell_name(archive.name), archive.sha256
    ) as number
  from unknown_input as unknown
  join archive on archive.id = unknown.archive
)
select
  provider.word as provider,
  placed.what,
  placed.name,
  placed.lines,
  placed.first_archive,
  placed.first_line
from placed
join provider_word as provider on provider.id = placed.provider
where placed.number = 1
order by
  provider.word,
  placed.what,
  placed.name
