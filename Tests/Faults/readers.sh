#!/usr/bin/env bash
# Publishes a set in which every text is hostile, in both dialects, and reads it with several CSV
# readers, and its workbook and that of the sample with LibreOffice.
#
# Promised (docs/reports.md): Python's csv, Miller, SQLite and, if Python can import it, DuckDB read
# the same cells; no cell runs in a spreadsheet; no cell or message controls a terminal; and every
# text can be restored from its cell.
# usage: Tests/Faults/readers.sh BINARY
#   PYTHON names another python3, for example one with DuckDB
set -euo pipefail
binary=$(realpath "$1")
python=${PYTHON:-python3}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"$python" "$here/hostile.py" make "$work"
cd "$work"
for dialect in rfc4180 excel; do
  for format in text json; do
    "$binary" run --archives archives --as-of 2026-03-02 --ledger "$dialect.sqlite" \
      --out "$dialect" --csv-dialect "$dialect" --xlsx --verbose --log-format "$format" \
      > /dev/null 2>> messages || [ $? -eq 1 ]
  done
  "$python" "$here/hostile.py" check "$work" "$dialect"
  "$binary" status --ledger "$dialect.sqlite" >> messages
done
[ -s messages ]
sample=$here/../../sample-data
"$binary" run --archives "$sample/archives" --snapshots "$sample/snapshots" --quiet --xlsx \
  --config "$sample/subledger.yaml" --prices "$sample/prices.csv" --as-of 2026-03-01 --out sample
for folder in rfc4180 sample; do "$python" "$here/../Readers/workbook.py" "$folder"; done
if LC_ALL=C grep -nP '[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]|\xe2\x80[\x8b-\x8f\xa8-\xae]|\xe2\x81[\xa6-\xa9]' messages; then
  echo "FAILED: a message holds a raw character" >&2
  exit 1
fi
