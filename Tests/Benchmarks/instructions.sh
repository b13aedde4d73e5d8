#!/bin/bash
# Counts the instructions of two runs on a small fixed world: a full run with a snapshot of every
# user, and a nightly run with one more purchase. Fails if there are more than instructions.txt
# allows. Neither load nor clock of the machine changes the count.
# usage: Tests/Benchmarks/instructions.sh BINARY [--record]      (needs: apt-get install valgrind)
set -euo pipefail

binary=$(realpath "$1")
limits=$(cd "$(dirname "$0")" && pwd)/instructions.txt
command -v valgrind > /dev/null || { echo "cannot count: install valgrind" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$binary" simulate --out "$folder/world" --events 10000 --archives 4 --lost 0 > /dev/null
mkdir "$folder/archives"
cp "$folder/world/archives/"* "$folder/archives/"
as_of=$(cat "$folder/world/truth/as_of.txt")
# Debian 12's Valgrind cannot read Swift's debug information.
strip --strip-debug -o "$folder/subledger" "$binary"

# count NAME: prints the name and the instructions of a run.
count() {
  valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/subledger" run --jobs 1 \
    --archives "$folder/archives" --snapshots "$folder/world/snapshots/sdk" \
    --config "$folder/world/subledger.yaml" --as-of "$as_of" --ledger "$folder/ledger.sqlite" \
    --out "$folder/reports" 2> "$folder/log" || [ $? = 1 ] || { cat "$folder/log" >&2; exit 2; }
  awk -v name="$1" '/Collected/ { print name, $NF; found = 1 } END { exit !found }' "$folder/log" ||
    { cat "$folder/log" >&2; exit 2; }
}

counted=$(
  count run
  zcat "$folder/archives/"*.gz | grep '"in_app_purchase"' | grep -v receivedAt | head -1 |
    sed 's/"transaction_id":"[^"]*"/"transaction_id":"2999999999999999"/' \
      > "$folder/archives/night.jsonl"
  count night)

if [ "${2:-}" = --record ]; then
  awk '{ print $0, 5 }' <<< "$counted" | tee "$limits"
  exit
fi
awk 'NR == FNR { limit[$1] = $2 * (1 + $3 / 100); expected[$1] = $2; more[$1] = $3; next }
  { printf "%s: %.0f instructions; the limit is %.0f plus %d %%\n", $1, $2, expected[$1], more[$1]
    if ($2 > limit[$1]) bad = 1 }
  END { exit bad }' "$limits" - <<< "$counted" || {
  echo "a run needs more instructions: find out why, or record the new count with --record" >&2
  exit 1
}
