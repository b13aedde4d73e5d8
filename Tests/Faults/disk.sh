#!/usr/bin/env bash
# Makes file operations of the nightly job fail, as on a full or broken disk or without permission,
# and fills real small filesystems.
#
# Promised (docs/reliability.md): the job ends with the exit code and a message for the failure, or
# continues if the operation does not matter; nothing is half written; and the next run, on a
# working disk, publishes the bytes of an undisturbed run.
# usage: Tests/Faults/disk.sh BINARY [POINTS]
#   POINTS: how many operations are tried for each error; default: all
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/run.sh"

# error NAME N [FAULT_LASTS=1]: makes the run's Nth file operation fail, or all from it on.
error() {
  local folder
  folder=$(fresh)
  disturbed "$folder" "FAULT_KIND=$1" "FAULT_AT=$2" ${3:+"$3"}
  judge_exit "$folder" "$1 at operation $2${3:+ and from then on}" 73 74 75 77
  rm -rf "$folder"
}

# small KIBIBYTES: runs on a filesystem of that size, which then grows.
small() {
  local folder
  folder=$(mktemp -d -p "$work")
  mount -t tmpfs -o size=64m small "$folder"
  cp -rp "$work/before/$state/." "$folder/"
  mkdir "$folder/copy"
  mount -o "remount,size=$1k" "$folder"
  talk=--quiet
  code=0
  run "$folder" limited "$binary" > "$work/log-$1" 2>&1 || code=$?
  mount -o remount,size=64m "$folder"
  mv "$work/log-$1" "$folder/log"
  judge_exit "$folder" "a filesystem of $1 KiB" 73 74
  umount "$folder"
}
export -f error small

count=$(operations)
echo "  a run has $count file operations" >&2
codes=('exit 74' 'exit 77')
# Few operations write a report set, so that some choices of points miss them.
[ "$points" -lt "$count" ] || codes+=('exit 73')
{
  # The first operation opens the ledger.
  echo "error EACCES 1 FAULT_LASTS=1"
  for n in $(some "$count" "$points"); do
    echo "error ENOSPC $n FAULT_LASTS=1"
    echo "error ENOSPC $n"
    echo "error EIO $n"
    echo "error EACCES $n FAULT_LASTS=1"
    echo "error EROFS $n FAULT_LASTS=1"
    echo "error EMFILE $n"
  done
} | each

if unshare -m mount -t tmpfs none "$work" 2> /dev/null; then
  before=$(du -sk "$work/before/between" | cut -f1)
  after=$(du -sk "$work/after/between" | cut -f1)
  for n in $(some $((2 * after - before)) "$points"); do echo $((before + n)); done |
    head -60 | xargs -P 1 -I{} unshare -m bash -c 'small {}' >> "$work/results" 2> /dev/null
else
  echo "  small filesystems are left out: this user may not mount" >&2
fi
verdict disk "${codes[@]}"
