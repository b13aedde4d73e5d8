#!/bin/bash
# Counts the instructions of a full run on a small fixed world, and fails when there are more than
# instructions.txt allows. Neither the load nor the clock of the machine changes the count.
# usage: Tests/Benchmarks/instructions.sh BINARY [--record]      (needs: apt-get install valgrind)
set -euo pipefail

binary=$(realpath "$1")
limits=$(cd "$(dirname "$0")" && pwd)/instructions.txt
command -v valgrind > /dev/null || { echo "cannot count: install valgrind" >&2; exit 2; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

"$binary" simulate --out "$folder/world" --events 10000 --archives 4 --lost 0 > /dev/null
# Valgrind of Debian 12 cannot read what Swift writes for debuggers.
strip --strip-debug -o "$folder/subledger" "$binary"
valgrind --tool=callgrind --callgrind-out-file=/dev/null "$folder/subledger" run --jobs 1 \
  --archives "$folder/world/archives" --config "$folder/world/subledger.yaml" \
  --as-of "$(cat "$folder/world/truth/as_of.txt")" --ledger "$folder/ledger.sqlite" \
  --out "$folder/reports" 2> "$folder/log" || [ $? = 1 ] || { cat "$folder/log" >&2; exit 2; }
counted=$(awk '/Collected/ { print $NF }' "$folder/log")
[ -n "$counted" ] || { cat "$folder/log" >&2; exit 2; }

if [ "${2:-}" = --record ]; then
  echo "$counted 5" > "$limits"
  echo "recorded $counted instructions and a tolerance of 5 %"
  exit
fi
read -r expected tolerance < "$limits"
echo "$counted instructions; the limit is $expected plus $tolerance %"
if [ "$counted" -gt $((expected + expected * tolerance / 100)) ]; then
  echo "the full run needs more instructions: find out why, or record the new count with --record" >&2
  exit 1
fi
