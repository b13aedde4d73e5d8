#!/usr/bin/env bash
# Makes the simulated part of sample-data anew; archives/odd-lines.jsonl is written by hand.
# usage: sample-data/make.sh PATH_OF_SUBLEDGER
set -euo pipefail
binary=$(realpath "$1")
cd "$(dirname "$0")"
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
"$binary" simulate --out "$world/world" --seed 21 --subscribers 400 --months 14 --lost 4000 \
  --archives 14 >/dev/null
rm -f archives/part-*.jsonl.gz snapshots/*.jsonl.gz
cp "$world"/world/archives/*.jsonl.gz archives/
cp "$world"/world/snapshots/sdk/*.jsonl.gz snapshots/
{
  cat "$world/world/subledger.yaml"
  printf '\n# A world of 400 people sells little: one lost charge is more than 0.5 %% of a month.\n'
  printf 'materiality: 5%%\n'
} > subledger.yaml
