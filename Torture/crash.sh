#!/usr/bin/env bash
# Kills the nightly job at its file operations, and at random moments; then runs it again.
#
# Promised (docs/reliability.md): after any death the ledger is sound, the published set is whole
# (the old one or the new one), and the next run ends with the bytes of an undisturbed one.
# usage: Torture/crash.sh BINARY [POINTS]   POINTS of each kind are tried; default: all operations
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/night.sh"

# at KIND N: the night dies at its Nth file operation.
at() {
  local folder
  folder=$(fresh)
  (FAULT_KIND=$1 FAULT_AT=$2 LD_PRELOAD=$work/faults.so job "$folder") > /dev/null 2>&1 || true
  judge "$folder" "$1 at operation $2"
  rm -rf "$folder"
}

# after SECONDS: the night is killed that long after its start.
after() {
  local folder
  folder=$(fresh)
  { timeout --signal KILL "$1" bash -c 'job "$0"' "$folder" > /dev/null 2>&1; } 2> /dev/null || true
  judge "$folder" "kill after $1 s"
  rm -rf "$folder"
}
export -f at after

step=$(((operations + points - 1) / points))
{
  for n in $(seq 1 "$step" "$operations"); do echo "at kill $n"; echo "at torn $n"; done
  for _ in $(seq "$((points < 200 ? points : 200))"); do
    echo "after $(awk -v n="$RANDOM" -v t="$took" 'BEGIN { printf "%.3f", n / 32768 * t / 1e9 }')"
  done
} | xargs -P "$(nproc)" -I{} bash -c '{}' > "$work/results" 2> /dev/null
verdict crash
