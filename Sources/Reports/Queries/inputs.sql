-- The archives of events that were read, and the account of their lines.
select
  archive.name as archive,
  archive.sha256,
  archive.bytes,
  archive.lines,
  archive.accepted,
  archive.duplicates,
  archive.skipped,
  archive.rejected,
  archive.first_event_ms as first_event_at,
  archive.last_event_ms as last_event_at,
  archive.status
from archive
left join printed_name as printed on printed.raw = archive.name
where archive.kind = 'events'
order by
  coalesce(printed.cell, archive.name),
  archive.sha256
