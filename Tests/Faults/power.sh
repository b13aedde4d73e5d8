#!/usr/bin/env bash
# Simulates power cuts: discards writes that were not synced yet, and runs the job again.
#
# A run is traced once; for each cut powercut.c rebuilds the folder as the disk may hold it then:
# with nothing that was not synced, with the first part of it, or with any pages of it.
#
# Promised (docs/reliability.md): after any cut the ledger is intact, the published set is whole
# (the old one or the new one), the ledger contains what the published set reports, and the next run
# publishes the bytes of an undisturbed run.
# usage: Tests/Faults/power.sh BINARY [POINTS]
#   POINTS: how many cuts of each kind are tried; default: all changes
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/run.sh"

# cut STATE SEAM N MODE: cuts the power after the run's Nth change.
cut() {
  local folder
  state=$1 seam=${2#-}
  folder=$(mktemp -d -p "$work")
  "$work/powercut" "$work/trace-$1$seam" "$work/before/$1" "$folder" "$3" "$4" "$RANDOM"
  mkdir "$folder/copy"
  judge "$folder" "power cut after change $3 ($4), $1${seam:+, one by one}"
  rm -rf "$folder"
}

# arrived STATE SEAM: after the run, the synced writes alone contain the new set and all lines; else
# the trace lacks syncs, and the cuts prove nothing.
arrived() {
  local folder
  state=$1 seam=${2#-}
  folder=$(mktemp -d -p "$work")
  "$work/powercut" "$work/trace-$1$seam" "$work/before/$1" "$folder" 1000000 synced 1
  mkdir "$folder/copy"
  if is_done "$folder" && is_sound "$folder" && holds_all "$folder/copy"; then
    echo "held all that a run says is kept, $1${seam:+, one by one}"
  else
    echo "FAILED a run's syncs do not keep what it made, $1${seam:+, one by one}"
  fi
  rm -rf "$folder"
}
export -f cut arrived

clang -shared -fPIC -O1 -Wall -Wextra -Werror -o "$work/trace.so" "$here/trace.c" -ldl
clang -O1 -Wall -Wextra -Werror -o "$work/powercut" "$here/powercut.c"
for where in "between -" "start -" "between 1"; do
  read -r state seam <<< "$where"
  seam=${seam#-}
  trace=$work/trace-$state$seam
  folder=$(fresh)
  preload=$work/trace.so${seam:+:$work/faults.so}
  run "$folder" env "LD_PRELOAD=$preload" ${seam:+FAULT_NO_EXCHANGE=1} \
    "TRACE_UNDER=$folder" "TRACE_TO=$trace" "$binary" || [ $? -eq 1 ]
  rm -rf "$folder"
  count=$("$work/powercut" "$trace" "$work/before/$state" none 0 none 0)
  echo "  a run changes or syncs files $count times ($state${seam:+, one by one})" >&2
  echo "arrived $where"
  for n in $(some "$count" "$points"); do
    for mode in synced prefix subset; do echo "cut $where $n $mode"; done
  done
done | each
verdict power
