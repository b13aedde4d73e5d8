-- Lines that could not be understood: place and reason, never content. For each reason, an archive
-- lists the first ones, and then how many more there are. Of several contents under one name, a
-- continuation lists the lines again: the newest counts, with the number of others that reject it.
with listed as (
  select
    reject.archive,
    reject.line,
    reject.byte_offset,
    reject.reason,
    reject.detail,
    row_number() over (
      partition by reject.archive, reject.reason order by reject.line, reject.byte_offset
    ) as number,
    count(*) over (partition by reject.archive, reject.reason) as lines
  from reject
),
placed as (
  select
    archive.name,
    listed.line,
    listed.byte_offset,
    listed.reason,
    case
      when listed.number = listed.lines and rejected.lines > listed.lines
        then listed.detail || '; ' || (rejected.lines - listed.lines)
          || ' more lines of this reason are not listed'
      else listed.detail
    end as detail,
    row_number() over (
      partition by archive.name, listed.line, listed.byte_offset order by archive.id desc
    ) as age,
    count(*) over (
      partition by archive.name, listed.line, listed.byte_offset
    ) as contents
  from listed
  join archive on archive.id = listed.archive
  left join rejected on rejected.archive = listed.archive and rejected.reason = listed.reason
  where archive.kind = 'events'
)
select
  placed.name as archive,
  placed.line,
  placed.byte_offset,
  placed.reason,
  iif(
    placed.contents > 1,
    placed.detail || '; also in ' || (placed.contents - 1) || ' other contents of this name',
    placed.detail
  ) as detail
from placed
where placed.age = 1
order by
  cell_name(placed.name),
  placed.line,
  placed.byte_offset
