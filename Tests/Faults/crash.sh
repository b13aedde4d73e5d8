#!/usr/bin/env bash
# Kills the nightly job at file operations and at random moments, then runs it again.
#
# Promised (docs/reliability.md): after any kill the ledger is intact, the published set is whole
# (the old one or the new one), and the next run publishes the bytes of an undisturbed run.
# usage: Tests/Faults/crash.sh BINARY [POINTS]
#   POINTS: how many points of each kind are tried; default: all operations
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/run.sh"

# at STATE SEAM KIND N: kills the run at its Nth file operation.
at() {
  local folder
  state=$1 seam=${2#-}
  folder=$(fresh)
  disturbed "$folder" "FAULT_KIND=$3" "FAULT_AT=$4"
  judge "$folder" "$3 at operation $4, $1${seam:+, one by one}, exit $code"
  rm -rf "$folder"
}

# after SECONDS: kills the run that long after its start.
after() {
  local folder
  folder=$(fresh)
  { run "$folder" timeout --signal KILL "$1" "$binary" > /dev/null 2>&1; } 2> /dev/null || true
  judge "$folder" "kill after $1 s"
  rm -rf "$folder"
}

# twice KIND N KIND N: disturbs two runs in a row.
twice() {
  local folder
  folder=$(fresh)
  disturbed "$folder" "FAULT_KIND=$1" "FAULT_AT=$2" FAULT_LASTS=1
  if is_whole "$folder"; then
    disturbed "$folder" "FAULT_KIND=$3" "FAULT_AT=$4" FAULT_LASTS=1
    judge "$folder" "$1 at operation $2, then $3 at operation $4"
  else
    echo "FAILED $1 at operation $2: the published set is neither the old nor the new one"
  fi
  rm -rf "$folder"
}
export -f at after twice

kinds=(kill torn ENOSPC EIO TERM)
any() { echo "${kinds[RANDOM % ${#kinds[@]}]} $((RANDOM % count + 1))"; }

for kind in kill torn; do
  for where in "between -" "start -" "between 1"; do
    read -r state seam <<< "$where"
    seam=${seam#-}
    count=$(state=$state seam=$seam operations)
    echo "  a run has $count file operations ($state${seam:+, one by one})" >&2
    for n in $(some "$count" "$points"); do echo "at $where $kind $n"; done
  done
done | each
count=$(state=between seam='' operations)
for _ in $(some 200 "$points"); do
  echo "after $(moment)"
  echo "twice $(any) $(any)"
done | each
verdict crash 'kill at .*exit 137' 'torn at .*exit 137'
