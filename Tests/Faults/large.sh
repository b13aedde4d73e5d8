#!/usr/bin/env bash
# Disturbs a run whose deliveries memory does not hold, because each came a thousand times.
#
# Promised (docs/reliability.md): events spilled for want of memory are never half in the ledger;
# without space for it the job ends with 74 and a sentence, and keeps what it had read whole; killed
# or stopped at any moment, the next run ends with the bytes of an undisturbed one.
# usage: Tests/Faults/large.sh BINARY [POINTS]
#   POINTS / 20 moments of each kind are tried; default: 3
set -euo pipefail
binary=$(realpath "$1")
points=${2:-60}
here=$(cd "$(dirname "$0")" && pwd)
copies=4500
state=start
. "$here/run.sh"

# without_space MEGABYTES: spilled events have so much disk space.
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

# stopped SIGNAL CODE: the signal comes at a random moment.
stopped() {
  local folder moment
  folder=$(fresh)
  moment=$(moment)
  code=0
  { run "$folder" timeout --preserve-status --signal "$1" "$moment" "$binary" \
    > "$folder/log" 2>&1; } 2> /dev/null || code=$?
  # Killed, or ended before it listens, it says nothing.
  grep -q ^subledger "$folder/log" || echo 'subledger: ended' > "$folder/log"
  # The system may still be at it to take its memory and its lock from it.
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
