#!/bin/bash
# Times the full job on a simulated world of 500,000 events, beside gzip -dc and, where Python has
# the module duckdb and PEER names a script, beside that: PEER ARCHIVES_FOLDER OUT_FOLDER.
# usage: Benchmarks/bench.sh BINARY [FOLDER] [ROUNDS]
set -euo pipefail

binary=$(realpath "$1")
folder=${2:-${TMPDIR:-/tmp}/subledger-bench}
rounds=${3:-3}
mkdir -p "$folder"
cd "$folder"

if [ ! -f world/truth/as_of.txt ]; then
  "$binary" simulate --out world --events 500000 --archives 10 --lost 0
fi
as_of=$(cat world/truth/as_of.txt)
: > times.txt

# measure NAME COMMAND...: appends name, wall seconds, processor seconds and peak KiB.
measure() {
  local name=$1
  shift
  /usr/bin/time --quiet -a -o times.txt -f "$name %e %U %S %M" "$@" > /dev/null
}

for round in $(seq "$rounds"); do
  measure gzip gzip -dc world/archives/*.gz
  if [ -n "${PEER:-}" ]; then
    mkdir -p peer
    measure peer "${PYTHON:-python3}" "$PEER" world/archives peer
  fi
  rm -rf ledger.sqlite* reports
  measure run "$binary" run --archives world/archives --config world/subledger.yaml \
    --as-of "$as_of" --ledger ledger.sqlite --out reports
  measure again "$binary" run --archives world/archives --config world/subledger.yaml \
    --as-of "$as_of" --ledger ledger.sqlite --out reports
  measure help "$binary" --help
done

printf '%-8s %8s %10s %10s\n' what "wall s" "cpu s" "peak MiB"
for name in gzip peer run again help; do
  # The median round by wall time.
  grep "^$name " times.txt | sort -k2 -n | awk -v at=$(((rounds + 1) / 2)) \
    'NR == at { printf "%-8s %8.2f %10.2f %10.0f\n", $1, $2, $3 + $4, $5 / 1024 }'
done
events=$(sqlite3 ledger.sqlite "select sum(counted) from lineage")
echo "ledger: $(($(stat -c %s ledger.sqlite) / events)) bytes per event"
