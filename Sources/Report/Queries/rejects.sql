-- Lines that could not be understood: where they stand and why, never what they say.
select
  archive.name as archive,
  reject.line,
  reject.byte_offset,
  reject.reason,
  reject.detail
from reject
join archive on archive.id = reject.archive
where archive.kind = 'events'
order by
  archive.name,
  reject.line,
  reject.byte_offset,
  archive.sha256
