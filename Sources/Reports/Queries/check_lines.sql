-- Wrong: an archive with a line that is not accounted for.
select
  'archive ' || archive.sha256 || ': ' || archive.lines || ' lines, '
    || (archive.accepted + archive.duplicates + archive.skipped + archive.rejected)
    || ' accounted for' as wrong
from archive
where archive.lines <> archive.accepted + archive.duplicates + archive.skipped + archive.rejected
order by archive.id
