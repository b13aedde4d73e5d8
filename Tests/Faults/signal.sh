#!/usr/bin/env bash
# Sends SIGTERM and SIGINT to the nightly job at file operations and at random moments.
#
# Promised (docs/reliability.md): the job stops at its next safe point with 143 or 130 and a
# message, or finishes; nothing is half written, and the next run publishes the bytes of an
# undisturbed run.
# usage: Tests/Faults/signal.sh BINARY [POINTS]
#   POINTS: how many points of each kind are tried; default: all operations
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/run.sh"

# at STATE SORT SIGNAL N: sends the signal at the run's Nth operation of a sort.
at() {
  local folder
  state=$1
  folder=$(fresh)
  disturbed "$folder" "FAULT_OF=$2" "FAULT_UNDER=$work" "FAULT_KIND=$3" "FAULT_AT=$4"
  judge_exit "$folder" "$3 at $4 of $2, $1" "$([ "$3" = TERM ] && echo 143 || echo 130)"
  rm -rf "$folder"
}

# after SIGNAL SECONDS: sends the signal that long after the start.
after() {
  local folder
  folder=$(fresh)
  code=0
  # Before the program handles signals, one ends it without a message.
  { run "$folder" timeout --preserve-status --signal "$1" "$2" "$binary" > "$folder/log" 2>&1; } \
    2> /dev/null || code=$?
  [ -s "$folder/log" ] || echo 'subledger: not yet' > "$folder/log"
  judge_exit "$folder" "$1 after $2 s" "$([ "$1" = TERM ] && echo 143 || echo 130)"
  rm -rf "$folder"
}
export -f at after

for where in between start; do
  for sort in changes reads; do
    count=$(state=$where operations "FAULT_OF=$sort" "FAULT_UNDER=$work")
    for n in $(some "$count" $(((points + 1) / 2))); do
      echo "at $where $sort TERM $n"
      echo "at $where $sort INT $n"
    done
  done
done | each
for _ in $(some 200 "$points"); do
  echo "after TERM $(moment)"
  echo "after INT $(moment)"
done | each
verdict signal 'TERM at .*exit 143' 'INT at .*exit 130'
