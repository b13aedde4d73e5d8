#!/usr/bin/env bash
# Runs the nightly job together with a second run, readers, and a writer that still appends.
#
# Promised (docs/reliability.md): one run at a time, while the other exits with 75 or waits; readers
# see the old or the new set and ledger, never a mixture and never an error; a growing archive is
# counted once, when it is whole.
# usage: Tests/Faults/together.sh BINARY [ROUNDS]   default: 20 rounds of each
set -euo pipefail
binary=$(realpath "$1")
rounds=${2:-20}
here=$(cd "$(dirname "$0")" && pwd)
subscribers=400
. "$here/run.sh"

# says WHAT CONDITION...: prints the result of a check in one line.
says() {
  local what=$1
  shift
  if "$@"; then echo "held $what"; else echo "FAILED $what"; fi >> "$work/results"
}

# code_of COMMAND...: prints the exit code of COMMAND.
code_of() {
  local code=0
  "$@" > "$work/words-$BASHPID" 2>&1 || code=$?
  echo "$code"
}

# Each round starts two runs at once.
for _ in $(seq "$rounds"); do
  folder=$(fresh)
  (code_of run "$folder" limited "$binary" > "$folder/one") &
  (code_of run "$folder" limited "$binary" > "$folder/two") &
  wait
  codes="$(cat "$folder/one") $(cat "$folder/two")"
  # The second may also start when the first has ended.
  says "two at once end with $codes" grep -qE '^([01] (75|[01])|75 [01])$' <<< "$codes"
  says "two at once publish the set" is_done "$folder"
  (talk='--quiet --lock-wait 100' && code_of run "$folder" limited "$binary" > "$folder/one") &
  (talk='--quiet --lock-wait 100' && code_of run "$folder" limited "$binary" > "$folder/two") &
  wait
  says "two that wait are both done" \
    grep -qE '^[01] [01]$' <<< "$(cat "$folder/one") $(cat "$folder/two")"
  rm -rf "$folder"
done

# A signal ends the wait for the lock; a reader with an open transaction blocks no one.
folder=$(fresh)
flock "$folder/ledger.sqlite.lock" sleep 20 &
holder=$!
sleep 0.3
talk='--quiet --lock-wait 100'
code=0
run "$folder" timeout --preserve-status 1 "$binary" > "$work/words" 2>&1 || code=$?
says "a signal ends the wait for the lock" [ "$code" = 143 ]
talk=--quiet
code=0
run "$folder" limited "$binary" > "$work/words" 2>&1 || code=$?
says "a lock that is held is 75" [ "$code" = 75 ]
says "the one that is refused says what to do" grep -q -- --lock-wait "$work/words"
says "report under a lock that is held is 75" [ "$(code_of "$binary" report \
  --ledger "$folder/ledger.sqlite" --as-of "$as_of" --out "$folder/reports")" = 75 ]
says "status under a lock that is held is 0" [ "$(code_of "$binary" status \
  --ledger "$folder/ledger.sqlite")" = 0 ]
kill "$holder"
wait "$holder" 2> /dev/null || true
# A child process also holds the lock.
pkill -P "$holder" 2> /dev/null || true
rm -rf "$folder"

folder=$(fresh)
mkfifo "$folder/pipe"
sqlite3 "$folder/ledger.sqlite" < "$folder/pipe" > /dev/null &
exec 9> "$folder/pipe"
echo 'begin; select count(*) from archive;' >&9
sleep 0.3
code=0
run "$folder" limited "$binary" > "$work/words" 2>&1 || code=$?
says "a run beside an open reader ends with $code" [ "$code" -le 1 ]
exec 9>&-
wait
says "a run beside an open reader publishes the set" is_done "$folder"
says "the run after it publishes the same" job "$folder"
rm -rf "$folder"

# Readers read while sets change: each round publishes the set of another as-of.
folder=$(fresh)
early=$(date -u -d "$as_of - 40 days" +%Y-%m-%dT%H:%M:%SZ)
job "$folder"
sha256sum < "$folder/reports/SHA256SUMS" > "$work/published"
touch "$work/go"
# look: reads the set repeatedly; whatever matches its checksums must be a published set.
look() {
  local torn=0
  while [ -e "$work/go" ]; do
    rm -rf "$work/look"
    cp -r "$folder/reports" "$work/look" 2> /dev/null || true
    if (cd "$work/look" 2> /dev/null && sha256sum --check --status SHA256SUMS 2> /dev/null); then
      sha256sum < "$work/look/SHA256SUMS" >> "$work/looks"
    else
      torn=$((torn + 1))
    fi
  done
  echo "  the set was read $(wc -l < "$work/looks") times whole, $torn times in between" >&2
}
# ask: calls `status` and `report` repeatedly.
ask() {
  local asked=0 wrong=0 code
  while [ -e "$work/go" ]; do
    code=$(code_of "$binary" status --ledger "$folder/ledger.sqlite")
    [ "$code" = 0 ] || { wrong=$((wrong + 1)); }
    asked=$((asked + 1))
  done
  says "status is answered while runs write ($asked times)" [ "$wrong" = 0 ]
}
(look) &
looker=$!
(ask) &
asker=$!
for round in $(seq "$rounds"); do
  moment=$as_of
  [ $((round % 2)) = 0 ] || moment=$early
  code=0
  talk='--quiet --lock-wait 100'
  (as_of=$moment && run "$folder" limited "$binary") > "$folder/log" 2>&1 || code=$?
  says "a run that others read ends with $code" [ "$code" -le 1 ]
  sha256sum < "$folder/reports/SHA256SUMS" >> "$work/published"
  code=$(code_of "$binary" report --quiet --as-of "$moment" --ledger "$folder/ledger.sqlite" \
    --config "$work/world/subledger.yaml" --out "$folder/reports")
  says "report ends with $code" [ "$code" -le 1 ]
  sha256sum < "$folder/reports/SHA256SUMS" >> "$work/published"
done
rm "$work/go"
wait "$looker" "$asker"
sort -u "$work/published" > "$work/known"
says "every whole set that was read had been published" \
  [ -z "$(sort -u "$work/looks" | comm -23 - "$work/known")" ]
says "more than one set was read" [ "$(sort -u "$work/looks" | wc -l)" -gt 1 ]
rm -rf "$folder"
talk=''

# A writer appends to an archive, member by member, while runs read it.
# append LIMIT: runs with --min-age LIMIT while the writer works, and once when it has finished.
append() {
  local folder lines writer number=0
  state=start
  folder=$(fresh)
  mkdir "$folder/parts"
  gzip -dc "$folder/archives/part-0006.jsonl.gz" | split -l "$(( ($(gzip -dc \
    "$folder/archives/part-0006.jsonl.gz" | wc -l) + rounds) / (rounds + 1) ))" - "$folder/parts/"
  rm "$folder/archives/part-0006.jsonl.gz"
  touch -d '2 days ago' "$folder"/archives/*
  for lines in "$folder"/parts/*; do
    gzip -nc "$lines" > "$folder/member"
    # Half a member first, so that a reader may see it.
    head -c $(($(stat -c %s "$folder/member") / 2)) "$folder/member" \
      >> "$folder/archives/part-0006.jsonl.gz"
    talk="--quiet --min-age $1"
    job "$folder" > /dev/null 2>&1 &
    writer=$!
    sleep 0.1
    tail -c +$(($(stat -c %s "$folder/member") / 2 + 1)) "$folder/member" \
      >> "$folder/archives/part-0006.jsonl.gz"
    wait "$writer" || number=$((number + 1))
  done
  says "runs beside a writer end well (--min-age $1)" [ "$number" = 0 ]
  talk=--quiet
  job "$folder" > /dev/null 2>&1
  says "what was appended counts once (--min-age $1)" numbers "$folder"
  says "the events are those of one run (--min-age $1)" [ \
    "$(sqlite3 "$folder/ledger.sqlite" 'select sum(accepted) from archive')" = \
    "$(sqlite3 "$work/after/start/ledger.sqlite" 'select sum(accepted) from archive')" ]
  rm -rf "$folder"
}
append 0
append 3600
verdict together
