#!/bin/bash
# Counts the instructions of a full job on a small fixed world, and fails when they are more than
# Benchmarks/instructions.txt allows: a guard that neither load nor the clock of a machine can fool.
# usage: Benchmarks/instructions.sh BINARY [--record]      (needs: apt-get install valgrind)
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
  echo "recorded $counted instructions, and that 5 % more are tolerated"
  exit
fi
read -r expected tolerance < "$limits"
echo "$counted instructions; $expected recorded, $tolerance % more tolerated"
if [ "$counted" -gt $((expected + expected * tolerance / 100)) ]; then
  echo "the full job became dearer: find out why, or record anew with --record" >&2
  exit 1
fi
