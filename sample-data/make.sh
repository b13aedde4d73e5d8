#!/usr/bin/env bash
# Creates the simulated part of sample-data again; archives/odd-lines.jsonl is written by hand.
# usage: sample-data/make.sh PATH_OF_SUBLEDGER
set -euo pipefail
binary=$(realpath "$1")
cd "$(dirname "$0")"
world=$(mktemp -d)
trap 'rm -rf "$world"' EXIT
"$binary" simulate --out "$world/world" --seed 36 --subscribers 130 --months 14 --lost 4000 \
  --archives 14 --providers qonversion,flobuk,iaptic,purple \
  --migrate purple/qonversion/2025-10-15/2025-11-15 >/dev/null
rm -rf archives/part-*.jsonl.gz snapshots
cp "$world"/world/archives/*.jsonl.gz archives/
for shape in sdk iaptic; do
  mkdir -p snapshots/$shape
  cp "$world"/world/snapshots/$shape/*.jsonl.gz snapshots/$shape/
done
cp "$world/world/prices.csv" prices.csv
{
  cat "$world/world/subledger.yaml"
  printf '\n# So few people buy little: one lost charge is more than 0.5 %% of a month, and some apps\n'
  printf '# are silent for months: users of one have moved to another provider.\n'
  printf 'materiality: 25%%\n'
  printf 'freshness_max: 120d\n'
} > subledger.yaml
