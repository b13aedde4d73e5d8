#!/usr/bin/env bash
# Makes file operations of the nightly job fail: a full disk, a broken one, missing permission.
#
# Promised (docs/reliability.md): the job ends with the exit code and a sentence for what failed,
# or goes on where the operation does not matter; nothing is half; and the next run, on a sound
# disk, ends with the bytes of an undisturbed one.
# usage: Torture/disk.sh BINARY [POINTS]   POINTS for each error are tried; default: all operations
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/night.sh"

# error NAME N [FAULT_LASTS=1]: the night's Nth file operation, or every one from then on, fails.
error() {
  local folder code=0 what="$1 at operation $2${3:+ and from then on}"
  folder=$(fresh)
  (
    # A crash is to end at once, without a debugger that the faults would hit as well.
    export FAULT_KIND=$1 FAULT_AT=$2 LD_PRELOAD=$work/faults.so SWIFT_BACKTRACE=enable=no ${3:+"$3"}
    exec timeout 60 "$binary" run --archives "$folder/archives" --snapshots "$work/world/snapshots/sdk" \
      --config "$work/world/subledger.yaml" --as-of "$as_of" --ledger "$folder/ledger.sqlite" \
      --out "$folder/reports" --quiet
  ) > "$folder/log" 2>&1 || code=$?
  case $code in
    0 | 1) judge "$folder" "$what" ;;
    73 | 74 | 75 | 77)
      if [ -s "$folder/log" ]; then
        judge "$folder" "$what, exit $code"
      else
        echo "FAILED $what: exit $code without a word"
      fi
      ;;
    *) echo "FAILED $what: exit $code, $(tail -1 "$folder/log")" ;;
  esac
  rm -rf "$folder"
}
export -f error

step=$(((operations + points - 1) / points))
for n in $(seq 1 "$step" "$operations"); do
  echo "error ENOSPC $n FAULT_LASTS=1"
  echo "error ENOSPC $n"
  echo "error EIO $n"
  echo "error EACCES $n FAULT_LASTS=1"
  echo "error EROFS $n FAULT_LASTS=1"
  echo "error EMFILE $n"
done | xargs -P "$(nproc)" -I{} bash -c '{}' > "$work/results" 2> /dev/null
verdict disk
