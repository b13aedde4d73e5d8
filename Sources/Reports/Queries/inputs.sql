-- The archives of events that were read, and the counts of their lines. A log that was read while
-- it grew, and under several names, is one row.
with part as (
  select
    archive.id,
    archive.name,
    coalesce(archive.stream, archive.id) as stream
  from archive
  where archive.kind = 'events' and archive.status <> 'repeated'
),
log as (
  select
    stream,
    max(id) as newest
  from part
  group by stream
  having count(*) > 1
),
-- Other names of the same bytes, of a log.
copy as (
  select
    copy.id,
    copy.name,
    part.stream
  from log
  join part on part.stream = log.stream
  join archive as origin on origin.id = part.id
  join archive as copy on copy.sha256 = origin.sha256
  where copy.kind = 'events' and copy.status = 'repeated'
),
names as (
  select
    stream,
    group_concat(name, '; ') as text
  from (
    select stream, name
    from (select * from part union all select * from copy)
    where stream in (select stream from log)
    group by stream, name
    order by stream, min(id)
  )
  group by stream
),
sums as (
  select
    coalesce(log.newest, archive.id) as id,
    sum(archive.lines) as lines,
    sum(archive.accepted) as accepted,
    sum(archive.duplicates) as duplicates,
    sum(archive.skipped) as skipped,
    sum(archive.rejected) as rejected,
    min(archive.first_event_ms) as first_event_at,
    max(archive.last_event_ms) as last_event_at,
    coalesce(sum(retracted.lines), 0) as retracted
  from archive
  left join skipped as retracted
    on retracted.archive = archive.id and retracted.reason = 'retracted'
  left join log on log.stream = coalesce(archive.stream, archive.id)
  where archive.kind = 'events' and archive.id not in (select id from copy)
  group by coalesce(log.newest, archive.id)
)
select
  coalesce(names.text, archive.name) as archive,
  archive.sha256,
  archive.bytes,
  archive.status,
  sums.*
from sums
join archive on archive.id = sums.id
left join names on names.stream = coalesce(archive.stream, archive.id)
order by
  cell_name(coalesce(names.text, archive.name)),
  archive.sha256
