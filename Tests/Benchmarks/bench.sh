#!/bin/bash
# Times full runs on two simulated worlds of 500,000 events, one with half of the deliveries in
# envelopes and one with none, and compares them, in alternating rounds, with gzip -dc, with another
# program that PEER may name (PEER ARCHIVES OUT AS_OF, run by PYTHON), and with a Polars scan if
# PYTHON has the module. The lower bound is zlib alone.
# usage: Tests/Benchmarks/bench.sh BINARY [FOLDER] [ROUNDS]
set -euo pipefail

binary=$(realpath "$1")
folder=${2:-${TMPDIR:-/tmp}/subledger-bench}
rounds=${3:-3}
python=${PYTHON:-python3}
mkdir -p "$folder"
cd "$folder"

for enveloped in 500000 0; do
  [ -f "world-$enveloped/truth/as_of.txt" ] || "$binary" simulate --out "world-$enveloped" \
    --events 500000 --archives 10 --lost 0 --enveloped "$enveloped"
done
: > times.txt

# measure NAME COMMAND...: records name, wall seconds, processor seconds and peak KiB. Syncs earlier
# writes to disk first.
measure() {
  local name=$1
  shift
  sync
  # Exit code 1 means that breaks are open.
  /usr/bin/time --quiet -a -o times.txt -f "$name %e %U %S %M" "$@" > /dev/null || [ $? = 1 ]
}

# full_run NAME WORLD: a full run into a new ledger.
full_run() {
  rm -rf ledger.sqlite* reports
  measure "$1" "$binary" run --archives "$2/archives" --config "$2/subledger.yaml" \
    --as-of "$(cat "$2/truth/as_of.txt")" --ledger ledger.sqlite --out reports
}

for round in $(seq "$rounds"); do
  measure gzip gzip -dc world-0/archives/*.gz
  if [ -n "${PEER:-}" ]; then
    mkdir -p peer
    measure peer "$python" "$PEER" world-0/archives peer \
      "$(date -d "$(cat world-0/truth/as_of.txt)" +%s)"
  fi
  if "$python" -c 'import polars' 2> /dev/null; then
    measure polars "$python" -c '
import glob, polars
lines = polars.concat([polars.scan_ndjson(f) for f in glob.glob("world-0/archives/*.gz")],
                      how="diagonal_relaxed")
event = polars.col("transaction").struct.field("transaction_id").alias("id")
print(lines.select(event, "time", "event_name", polars.col("revenue").struct.field("value_usd"))
      .unique(["id", "time", "event_name"]).group_by(polars.col("time") // 86400)
      .agg(polars.col("value_usd").sum()).collect(engine="streaming").height)'
  fi
  full_run run world-0
  full_run enveloped world-500000
  measure again "$binary" run --archives world-500000/archives \
    --config world-500000/subledger.yaml --as-of "$(cat world-500000/truth/as_of.txt)" \
    --ledger ledger.sqlite --out reports
  measure help "$binary" --help
  measure status "$binary" status --ledger ledger.sqlite
  measure zlib "$python" -c '
import glob, zlib
for name in glob.glob("world-0/archives/*.gz"):
    stream = zlib.decompressobj(31)
    with open(name, "rb") as file:
        while part := file.read(1 << 18): stream.decompress(part)'
done

# median NAME COLUMN: prints the median of all rounds.
median() { awk -v name="$1" -v at="$2" '$1 == name { print $at }' times.txt | sort -n |
  awk '{ value[NR] = $1 } END { print NR ? value[int((NR + 1) / 2)] : "" }'; }

base=$(median run 2)
printf '%-10s %8s %10s %10s %14s\n' what "wall s" "cpu s" "peak MiB" "run's wall is"
for name in gzip peer polars run enveloped again help status zlib; do
  wall=$(median "$name" 2)
  [ -n "$wall" ] || continue
  printf '%-10s %8.2f %10.2f %10.0f %12s x\n' "$name" "$wall" \
    "$(echo "$(median "$name" 3) + $(median "$name" 4)" | bc -l)" \
    "$(echo "$(median "$name" 5) / 1024" | bc -l)" \
    "$(awk -v a="$base" -v b="$wall" 'BEGIN { if (b > 0) printf "%.2f", a / b; else print "-" }')"
done
events=$(sqlite3 ledger.sqlite "select sum(counted) from lineage")
echo "ledger: $(($(stat -c %s ledger.sqlite) / events)) bytes per event"
