#!/usr/bin/env bash
# Runs the job without memory, file handles, threads, standard streams, rights or a correct clock.
#
# Promised (docs/reliability.md): the job does its work with less, or ends with the exit code and a
# message for what is missing. Only without memory may it end without a message. Nothing is half
# written, and the next run publishes the bytes of an undisturbed run.
# usage: Tests/Faults/limits.sh BINARY [POINTS]
#   POINTS: how many levels of each limit are tried; default: 40
set -euo pipefail
binary=$(realpath "$1")
points=${2:-40}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/run.sh"

# under LIMIT LEVEL CODE...: runs with `ulimit LIMIT LEVEL`; must succeed or end with a CODE.
under() {
  local folder limit=$1 level=$2
  shift 2
  state=start
  folder=$(fresh)
  code=0
  { (ulimit "$limit" "$level" && run "$folder" limited "$binary") > "$folder/log" 2>&1; } \
    2> /dev/null || code=$?
  case $code,$limit in
    # The loader could not start the program, or no memory was left for a message.
    127,* | 126,*) echo 'subledger: not loaded' > "$folder/log" ;;
    132,-v | 133,-v | 134,-v | 135,-v | 139,-v) echo 'subledger: died' > "$folder/log" ;;
    # Nor is there memory for a thread, which Dispatch waits for.
    137,-v) echo 'subledger: waited until it was killed' > "$folder/log" ;;
  esac
  judge_exit "$folder" "ulimit $limit $level" "$@" 126 127
  rm -rf "$folder"
}

# threads N TIMES: creating the Nth thread fails, and so do the next ones, TIMES in all.
threads() {
  local folder
  folder=$(fresh)
  disturbed "$folder" FAULT_OF=threads FAULT_KIND=EAGAIN "FAULT_AT=$1" "FAULT_TIMES=$2"
  judge_exit "$folder" "no thread $1, $2 times"
  rm -rf "$folder"
}

# clock N: from its Nth reading on, the clock is a day slow.
clock() {
  local folder
  folder=$(fresh)
  disturbed "$folder" "FAULT_CLOCK=$1"
  judge_exit "$folder" "a clock that goes back at reading $1"
  rm -rf "$folder"
}

# streams HOW: a verbose run writes to unusual standard streams.
streams() {
  local folder
  folder=$(fresh)
  talk='--verbose --progress always'
  code=0
  case $1 in
    no-input) run "$folder" limited "$binary" <&- > /dev/null 2>&1 || code=$? ;;
    no-output) run "$folder" limited "$binary" >&- 2> /dev/null || code=$? ;;
    no-error) run "$folder" limited "$binary" > /dev/null 2>&- || code=$? ;;
    none) run "$folder" limited "$binary" <&- >&- 2>&- || code=$? ;;
    full) run "$folder" limited "$binary" > /dev/full 2> /dev/full || code=$? ;;
    no-reader) { run "$folder" limited "$binary" 2>&1 || echo $? > "$folder/code"; } | true ;;
  esac
  [ ! -s "$folder/code" ] || code=$(cat "$folder/code")
  if [ "$(stat -c %s "$folder/ledger.sqlite.lock")" != 0 ]; then
    echo "FAILED streams $1: words for a stream went into a file"
  else
    talk=''
    judge_exit "$folder" "streams: $1"
  fi
  rm -rf "$folder"
}

# unwritable HOW CODE: `status` cannot write its output, and must exit with CODE.
unwritable() {
  local code=0
  case $1 in
    full) "$binary" status --ledger "$work/after/between/ledger.sqlite" > /dev/full || code=$? ;;
    closed) "$binary" status --ledger "$work/after/between/ledger.sqlite" >&- || code=$? ;;
  esac 2> "$work/unwritable-$1"
  if [ "$code" = 74 ] && grep -q 'standard output' "$work/unwritable-$1"; then
    echo "held status to $1"
  else
    echo "FAILED status to $1: exit $code"
  fi
}

# forbidden WHAT: a permission is missing; the job runs as a user who does not own its files.
forbidden() {
  local folder words
  folder=$(fresh)
  chmod 755 "$work" "$folder"
  chmod -R a+rX "$work/world" "$folder"
  chmod -R a+rwX "$folder"
  code=0
  case $1 in
    archive) chmod 000 "$folder/archives/part-0006.jsonl.gz" ;;
    archives) chmod 000 "$folder/archives" ;;
    ledger) chmod 444 "$folder/ledger.sqlite" ;;
    ledger-unreadable) chmod 000 "$folder/ledger.sqlite" ;;
    lock) chmod 444 "$folder/ledger.sqlite.lock" ;;
    folder) chmod 555 "$folder" ;;
    out) chmod 555 "$folder/reports" ;;
  esac
  run "$folder" limited setpriv --reuid 65534 --regid 65534 --clear-groups "$binary" \
    > "$work/log-$1" 2>&1 || code=$?
  chmod -R u+rwX "$folder"
  mv "$work/log-$1" "$folder/log"
  words=$(cat "$folder/log")
  if [ "$code" != 77 ] || ! grep -q "$folder" <<< "$words" || ! grep -q ';\|hint' <<< "$words"; then
    echo "FAILED forbidden $1: exit $code, $words"
  else
    judge_exit "$folder" "forbidden: $1" 77
  fi
  rm -rf "$folder"
}

# read_only WHAT: a folder is on a filesystem that is mounted read-only.
read_only() {
  local folder
  folder=$(fresh)
  code=0
  case $1 in
    out) mount --bind "$folder/reports" "$folder/reports" &&
      mount -o remount,bind,ro "$folder/reports" ;;
    all) mount --bind "$folder" "$folder" && mount -o remount,bind,ro "$folder" ;;
  esac
  run "$folder" limited "$binary" > "$work/log-ro-$1" 2>&1 || code=$?
  case $1 in
    out) umount "$folder/reports" ;;
    all) umount "$folder" ;;
  esac
  mv "$work/log-ro-$1" "$folder/log"
  if [ "$code" = 77 ]; then
    judge_exit "$folder" "read-only: $1" 77
  else
    echo "FAILED read-only $1: exit $code, $(cat "$folder/log")"
  fi
  rm -rf "$folder"
}
export -f under threads clock streams unwritable forbidden read_only

{
  for n in $(some 40 "$points"); do
    # From less than the loader needs to more than the run needs.
    echo "under -v $((n * 16384)) 74 132 133 134 135 137 139"
    echo "under -n $((n * 2 + 1)) 74"
    echo "clock $n"
  done
  for n in 1 2 3; do echo "threads $n 1" && echo "threads $n 2" && echo "threads $n 4"; done
  for how in no-input no-output no-error none full no-reader; do echo "streams $how"; done
  echo "unwritable full" && echo "unwritable closed"
  if [ "$(id -u)" = 0 ]; then
    for what in archive archives ledger ledger-unreadable lock folder out; do
      echo "forbidden $what"
    done
  else
    echo "  missing rights are left out: only root can become another user" >&2
  fi
} | each
if unshare -m mount -t tmpfs none "$work/before" 2> /dev/null; then
  for what in out all; do
    unshare -m bash -c "read_only $what" >> "$work/results" 2> /dev/null
  done
else
  echo "  read-only filesystems are left out: this user may not mount" >&2
fi
verdict limits
