#!/usr/bin/env bash
# Runs the job on worlds that grow in one dimension each: versions of an event, events of a
# subscription, purchases of a user, archives, apps and so on.
#
# Promised (docs/reliability.md): four times the input takes at most six times the processor time,
# and at most 256 MiB of memory, also in the next run; a signal in the middle ends the run within a
# second, or later by the processor time that other processes take.
# usage: Tests/Faults/growth.sh BINARY [SCALE] [SHAPE...]
#   SCALE multiplies the sizes of the worlds; default: 4. Without SHAPE, all shapes are tried.
set -euo pipefail
binary=$(realpath "$1")
scale=${2:-4}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Lines of the smaller world, so that a run takes a few tenths of a second.
declare -A sizes=(
  [versions]=8000 [ties]=4000 [pairs]=4000 [copies]=187500 [shared]=2000 [renewals]=12500
  [moment]=12500 [texts]=12500 [user]=12000 [purchases]=12500 [product]=12500
  [entitled]=12500 [members]=62500
  [archives]=5000 [apps]=1000 [products]=3000 [currencies]=4000 [names]=3000)

# measured WORLD AS_OF: runs on everything, and appends processor seconds, KiB of memory and wall
# seconds to WORLD/time. Exit code 1 means that breaks are open.
measured() {
  /usr/bin/time --quiet -a -f '%U %S %M %e' -o "$1/time" timeout -k 5 300 "$binary" run --quiet \
    --archives "$1/archives" --as-of "$2" --ledger "$1/ledger.sqlite" --out "$1/reports" \
    > "$1/log" 2>&1 || [ $? = 1 ]
}

# run WORLD: does a first and a second run, whose figures are the lines of WORLD/time.
run() {
  measured "$1" 2026-03-01 && measured "$1" 2026-03-02
}

# stopped WORLD SHARE: prints how long a run takes to end after a signal at SHARE of its time.
stopped() {
  local process began
  rm -rf "$1/ledger.sqlite"* "$1/reports"
  "$binary" run --quiet --archives "$1/archives" --as-of 2026-03-01 \
    --ledger "$1/ledger.sqlite" --out "$1/reports" > /dev/null 2>&1 &
  process=$!
  sleep "$(awk -v share="$2" 'NR == 1 { print $4 * share }' "$1/time")"
  began=$(date +%s%N)
  kill -TERM "$process" 2> /dev/null || true
  wait "$process" || true
  echo $((($(date +%s%N) - began) / 1000000))
}

failed=0
shapes=${*:3}
for shape in ${shapes:-$("$here/growth.py" --shapes)}; do
  n=$((sizes[$shape] * scale))
  [ "$shape" != currencies ] || [ "$n" -le 4394 ] || n=4394
  for size in "$n" $((4 * n)); do
    "$here/growth.py" "$shape" "$size" "$work/$size"
    run "$work/$size" || {
      echo "FAILED $shape of $size lines: $(tail -1 "$work/$size/log")"
      failed=1
    }
  done
  late=$(for share in 0.2 0.4 0.6 0.8; do stopped "$work/$((4 * n))" "$share"; done | sort -n |
    tail -1)
  awk -v shape="$shape" -v n="$n" -v late="$late" '
    FNR == 1 { cost[++worlds] = $1 + $2; wall = $4; memory = 0 }
    memory < $3 / 1024 { memory = $3 / 1024 }
    END {
      ratio = cost[1] > 0 ? cost[2] / cost[1] : 99
      share = cost[2] > 0 && wall > cost[2] ? wall / cost[2] : 1
      bad = ratio > 6 || memory > 256 || late > 1000 * share
      printf "%s %s: %d lines %.2f s, %d lines %.2f s: %.1f times; %d MiB, signal %d ms\n", \
        bad ? "FAILED" : "held", shape, n, cost[1], 4 * n, cost[2], ratio, memory, late
      exit bad
    }' "$work/$n/time" "$work/$((4 * n))/time" || failed=1
  rm -rf "${work:?}"/*
done
echo "growth: $([ "$failed" = 0 ] && echo all held || echo not all held) ($SECONDS s)"
exit "$failed"
