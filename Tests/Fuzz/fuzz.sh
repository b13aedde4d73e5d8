#!/usr/bin/env bash
# Runs the fuzz targets (docs/reliability.md).
#
# Starts from Tests/Fuzz/Corpus, test lines and sample data. JSON_SUITE may name the folder
# test_parsing of Nicolas Seriot's JSONTestSuite. Inputs that break a property are saved in
# Tests/Fuzz/Findings.
# usage: Tests/Fuzz/fuzz.sh SECONDS [TARGET...]   SECONDS for each target; default: all targets;
#        `readers` are those that need no settings
#        Tests/Fuzz/fuzz.sh shrink [TARGET...]    rebuilds Tests/Fuzz/Corpus from earlier runs
set -euo pipefail
cd "$(dirname "$0")/../.."
program=$(realpath "${FUZZ:-.build/fuzz/release/Fuzz}")
what=${1:?SECONDS or shrink}
shift
targets=("$@")
readers=(gzip lines json decimal instant envelope qonversion flobuk iaptic purple snapshot)
case ${targets[*]} in
  "") targets=("${readers[@]}" calendar prices configuration decisions) ;;
  readers) targets=("${readers[@]}") ;;
esac
grown=.build/fuzz/corpus
mkdir -p Tests/Fuzz/Findings
# A crash must end at once, without a backtrace.
export SWIFT_BACKTRACE=enable=no

# lines FOLDER FILE...: writes each line of the decompressed files as a seed into FOLDER.
lines() {
  local folder=$1 file
  shift
  for file in "$@"; do
    zcat -f "$file" | split -l 1 -a 4 - "$folder/$(basename "$file")-" || return 1
  done
}

# seeds TARGET FOLDER: copies the target's seeds into FOLDER; fails if there are none.
seeds() {
  local folder=$2 text
  case $1 in
    gzip) cp sample-data/archives/part-0001.jsonl.gz "$folder/" ;;
    json) if [ -n "${JSON_SUITE:-}" ]; then cp "$JSON_SUITE"/*.json "$folder/"; fi ;;
    decimal)
      for text in 9.99 -0 1e-7 0.0000005 123456789012.3456785 1000000000000.0000001 1.5E+3; do
        printf %s "$text" > "$folder/$text"
      done
      ;;
    instant)
      for text in 2024-02-29T23:59:60Z 2026-11-20T08:15:00.123+05:30 1772193600 -1.5 9e18 \
        1772193600123 253402300799.9999 users-20261120_021500.jsonl; do
        printf %s "$text" > "$folder/$text"
      done
      ;;
    envelope) lines "$folder" sample-data/archives/odd-lines.jsonl Tests/ProvidersTests/Lines/*.jsonl ;;
    qonversion | flobuk | iaptic | purple) lines "$folder" "Tests/ProvidersTests/Lines/$1.jsonl" ;;
    snapshot) lines "$folder" sample-data/snapshots/*/* Tests/SubledgerTests/Providers/Vendor/*snapshot* ;;
    prices) cp Tests/SubledgerTests/Providers/Vendor/*.prices.csv "$folder/" ;;
    configuration) cp subledger.example.yaml sample-data/subledger.yaml "$folder/" ;;
    decisions)
      printf -- '- {break_id: 00000000000000ab, decision: explained, reason: r, who: w}\n' \
        > "$folder/decisions"
      ;;
  esac
}

# run TARGET SECONDS: prints executions, coverage and findings; fails on a finding.
run() {
  local target=$1 seeds log failed=0
  seeds=$(mktemp -d)
  log=$(mktemp)
  # Without its seeds a target reaches almost nothing.
  if ! seeds "$target" "$seeds"; then
    echo "$target: seeds are missing" >&2
    rm -rf "$seeds" "$log"
    return 1
  fi
  mkdir -p "$grown/$target" "Tests/Fuzz/Corpus/$target"
  FUZZ_TARGET=$target "$program" -max_total_time="$2" -max_len=4096 -timeout=60 -rss_limit_mb=512 \
    -use_value_profile=1 -print_final_stats=1 -reload=0 -artifact_prefix="Tests/Fuzz/Findings/$target-" \
    "$grown/$target" "Tests/Fuzz/Corpus/$target" "$seeds" > "$log" 2>&1 || failed=1
  local runs coverage memory
  runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
  [ "${runs:-0}" -gt 0 ] || failed=1
  coverage=$(grep -o 'cov: [0-9]*' "$log" | tail -1 | cut -d' ' -f2)
  memory=$(sed -n 's/^stat::peak_rss_mb: *//p' "$log")
  printf '%-14s %9s runs %6s edges %4s MB %s\n' "$target" "${runs:-?}" "${coverage:-?}" \
    "${memory:-?}" "$([ "$failed" = 0 ] && echo held || echo FAILED)"
  if [ "$failed" = 1 ]; then grep -E 'does not hold|SUMMARY|Test unit|ERROR|Fatal' "$log" >&2 || true; fi
  rm -rf "$seeds" "$log"
  return "$failed"
}

# shrink TARGET: keeps at most 50 inputs, of at most 512 bytes, that together cover the most code.
shrink() {
  local target=$1 few
  few=$(mktemp -d)
  mkdir -p "Tests/Fuzz/Corpus/$target" "$grown/$target"
  FUZZ_TARGET=$target "$program" -merge=1 -max_len=512 "$few" "Tests/Fuzz/Corpus/$target" \
    "$grown/$target" > /dev/null 2>&1
  rm -rf "Tests/Fuzz/Corpus/$target"
  mkdir -p "Tests/Fuzz/Corpus/$target"
  # Names are digests, so that the first 50 have all sizes.
  ls "$few" | sort | sed -n 1,50p | while read -r name; do
    cp "$few/$name" "Tests/Fuzz/Corpus/$target/"
  done
  echo "$target: $(ls "Tests/Fuzz/Corpus/$target" | wc -l) inputs," \
    "$(cat "Tests/Fuzz/Corpus/$target"/* | wc -c) bytes"
  rm -rf "$few"
}

status=0
for target in "${targets[@]}"; do
  if [ "$what" = shrink ]; then shrink "$target"; else run "$target" "$what" || status=1; fi
done
exit "$status"
