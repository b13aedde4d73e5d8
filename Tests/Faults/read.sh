#!/usr/bin/env bash
# Makes reads fail, and changes archives while they are read.
#
# Promised (docs/reliability.md): the run names a file that cannot be read, vanishes, grows or
# changes while it is read, and a later run reads it; any other failed read ends the run with its
# exit code and message; nothing is half written, and the next run publishes the bytes of an
# undisturbed run.
# usage: Tests/Faults/read.sh BINARY [POINTS]
#   POINTS: how many operations are tried for each fault; default: all
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100000}
here=$(cd "$(dirname "$0")" && pwd)
. "$here/run.sh"

# error NAME N CODE...: the run's Nth read operation fails, and it succeeds or ends with a CODE. If
# it leaves an archive out, the next run reads it and publishes the same numbers.
error() {
  local folder kind=$1 n=$2 what="$1 at read $2"
  shift 2
  folder=$(fresh)
  talk=--verbose disturbed "$folder" FAULT_OF=reads "FAULT_UNDER=$work" "FAULT_KIND=$kind" \
    "FAULT_AT=$n"
  # An archive that is missing when it is listed counts as vanished.
  if [ "$code" -gt 1 ] || ! grep -qE 'it is left out|left out .*: vanished' "$folder/log"; then
    judge_exit "$folder" "$what" "$@"
  elif ! (cd "$folder/reports" && sha256sum --check --status SHA256SUMS); then
    echo "FAILED $what: the published set is not whole"
  elif ! job "$folder" > "$folder/log" 2>&1; then
    echo "FAILED $what: the next run: $(tail -1 "$folder/log")"
  elif ! numbers "$folder"; then
    echo "FAILED $what: the next run publishes other numbers than an undisturbed one"
  else
    echo "held $what"
  fi
  rm -rf "$folder"
}

# changes HOW N: changes the last archive by HOW at the run's Nth read operation on archives; its
# original bytes return under another name before the next run.
changes() {
  local folder file change warned=
  folder=$(fresh)
  file=$folder/archives/part-0006.jsonl.gz
  cp -p "$file" "$folder/whole"
  head -c 2000 "$file" > "$folder/head"
  tail -c +2001 "$file" > "$folder/tail"
  gzip -dc "$file" | head -20 | gzip -n > "$folder/other"
  case $1 in
    vanish) change="rm -f $file" ;;
    grow) cp "$folder/head" "$file" && change="cat $folder/tail >> $file" ;;
    shrink) change="truncate -s 1500 $file" ;;
    swap) change="cp $folder/other $folder/new; mv $folder/new $file" ;;
  esac
  talk=--verbose disturbed "$folder" FAULT_OF=reads "FAULT_UNDER=$folder/archives" \
    FAULT_KIND=run "FAULT_RUN=$change" "FAULT_AT=$2"
  if grep -q part-0006 "$folder/log"; then warned=', with a warning'; fi
  if [ "$code" -gt 1 ]; then
    echo "FAILED $1 at look $2: exit $code, $(tail -1 "$folder/log")"
  elif ! (cd "$folder/reports" && sha256sum --check --status SHA256SUMS); then
    echo "FAILED $1 at look $2: the published set is not whole"
  else
    # Under another name, its bytes are known only if its events are.
    rm -f "$file"
    cp -p "$folder/whole" "${file%/*}/part-0007.jsonl.gz"
    if ! job "$folder" > "$folder/log" 2>&1; then
      echo "FAILED $1 at look $2: the next run: $(tail -1 "$folder/log")"
    elif ! numbers "$folder"; then
      echo "FAILED $1 at look $2: the next run publishes other numbers than an undisturbed one"
    else
      echo "held $1 at look $2$warned"
    fi
  fi
  rm -rf "$folder"
}
export -f error changes

count=$(operations FAULT_OF=reads "FAULT_UNDER=$work")
echo "  a run looks at files $count times" >&2
for n in $(some "$count" "$points"); do
  echo "error EIO $n 73 74"
  echo "error ESTALE $n 73 74"
  echo "error EACCES $n 74 75 77 78"
  echo "error ENOENT $n 66 73 74 75 78"
  echo "error EMFILE $n 73 74"
  echo "error EINTR $n 73 74"
  echo "error short $n"
done | each
# After forty operations all archives are read.
for n in $(some 40 "$points"); do
  for how in vanish grow shrink swap; do echo "changes $how $n"; done
done | each
verdict read 'vanish .*with a warning' 'grow .*with a warning' 'shrink .*with a warning'
