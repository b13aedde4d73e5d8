#!/usr/bin/env bash
# Creates the ledger of a release after one run, and the input of the next run.
#
# Run it once per release, with the release build. Tests then use the folder to check that later
# versions migrate what this release wrote. It contains ledger.sqlite.gz, first/ (its archives),
# then/ (the archives of the next run), snapshots/, subledger.yaml, prices.csv and as_of.txt.
# usage: Tests/Ledgers/make.sh BINARY FOLDER
set -euo pipefail
binary=$(realpath "$1")
mkdir "$2"
folder=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

"$binary" simulate --out world --seed 11 --subscribers 30 --months 4 --archives 4 --lost 30000 \
  --providers qonversion,flobuk,iaptic,purple > /dev/null
mkdir "$folder/first" "$folder/then"
mapfile -t archives < <(ls world/archives/*)
cp "${archives[@]:0:2}" "$folder/first/"
cp "${archives[@]:2}" "$folder/then/"
cp -r world/snapshots world/subledger.yaml world/prices.csv "$folder/"
cp world/truth/as_of.txt "$folder/"
"$binary" run --archives "$folder/first" --ledger ledger.sqlite --out reports \
  --config world/subledger.yaml --prices world/prices.csv \
  --as-of "$(date -u -d "$(cat world/truth/as_of.txt) -45 days" +%Y-%m-%d)" --quiet || [ $? -eq 1 ]
gzip -9nc ledger.sqlite > "$folder/ledger.sqlite.gz"
