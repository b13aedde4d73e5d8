#!/usr/bin/env bash
# Disturbs a run whose deliveries do not fit in memory, because each arrived a thousand times.
#
# Promised (docs/reliability.md): events in a spill file are never half in the ledger; without space
# for that file the job ends with 74 and a message, and keeps the archives it had read whole; after
# a kill or a signal at any moment, the next run publishes the bytes of an undisturbed run.
# usage: Tests/Faults/large.sh BINARY [POINTS]
#   POINTS / 20 moments of each kind are tried; default: 3
set -euo pipefail
binary=$(realpath "$1")
points=${2:-60}
here=$(cd "$(dirname "$0")" && pwd)
copies=4500
state=start
. "$here/run.sh"

# without_space MEGABYTES: limits the disk space of the spill file.
without_space() {
  local folder
  folder=$(fresh)
  mkdir "$folder/space"
  mount -t tmpfs -o "size=$1m" tmpfs "$folder/space"
  code=0
  SQLITE_TMPDIR="$folder/space" run "$folder" limited "$binary" > "$folder/log" 2>&1 || code=$?
  umount "$folder/space"
  if ! grep -q 'spill events' "$folder/log"; then
    echo "FAILED nothing is spilled: exit $code, $(tail -1 "$folder/log")"
  else
    judge_exit "$folder" "$1 MB for spilled events" 74
  fi
  rm -rf "$folder"
}

# stopped SIGNAL CODE: sends the signal at a random moment.
stopped() {
  local folder moment
  folder=$(fresh)
  moment=$(moment)
  code=0
  { run "$folder" timeout --preserve-status --signal "$1" "$moment" "$binary" \
    > "$folder/log" 2>&1; } 2> /dev/null || code=$?
  # Without a message: killed, or ended before it handles signals.
  grep -q ^subledger "$folder/log" || echo 'subledger: ended' > "$folder/log"
  # The system may still be releasing its memory and its lock.
  flock "$folder/ledger.sqlite.lock" true
  judge_exit "$folder" "$1 after $moment s of a large run" "$2"
  rm -rf "$folder"
}

: > "$work/results"
if [ "$(id -u)" = 0 ]; then
  for space in 1 20; do without_space "$space" >> "$work/results"; done
else
  echo "  a small disk is left out: only root can mount one" >&2
fi
for _ in $(seq $(((points + 19) / 20))); do
  stopped KILL 137 >> "$work/results"
  stopped TERM 143 >> "$work/results"
done
verdict large
