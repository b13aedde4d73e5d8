-- Violations: archives whose lines do not add up.
select
  'archive ' || archive.sha256 || ': ' || archive.lines || ' lines, '
    || (archive.accepted + archive.duplicates + archive.skipped + archive.rejected)
    || ' accounted for' as wrong
from archive
where archive.lines <> archive.accepted + archive.duplicates + archive.skipped + archive.rejected
order by archive.id
