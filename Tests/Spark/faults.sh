#!/usr/bin/env bash
# Kills drivers at each step of a first and of a nightly run, kills processes of stages, starts a
# second driver, fills the lake, and compares what the next run publishes with the embedded
# engine's.
# usage: faults.sh PROGRAM [STEP...]; a step is a pattern such as 'news-*', part or published;
# default: all steps, then the stages and, as root, a full lake
. "$(dirname "$0")/common.sh"
shift
all=$#
"$binary" simulate --out world --subscribers 60 --months 6 --archives 4 --seed 5 >/dev/null
as_of=$(cut -c1-10 world/truth/as_of.txt)
mkdir in
cp -p world/archives/* in/
last=$(ls -d in/* | tail -1)
zcat "$last" | tail -n 9 >few.jsonl
zcat "$last" | head -n -9 >in/last.jsonl
rm "$last"
settings=(--config world/subledger.yaml --snapshots world/snapshots/sdk)

# start: starts a run on Spark in the background, as $driver.
start() {
  "$binary" run --ledger spark.sqlite --engine spark --master "$master" --archives in \
    --as-of "$as_of" --out spark "${settings[@]}" >spark.out 2>spark.log &
  driver=$!
}

# swept: checks that the lake contains exactly what the ledger names.
swept() {
  [ "$(count)" = \
    "$(sqlite3 spark.sqlite 'select count(distinct part) from lake_archive')" ] ||
    fail "the lake holds parts that no ledger names"
  [ -z "$(ls -d spark.sqlite.lake/exchange-* 2>/dev/null)" ] || fail "an exchange is left"
}

# finish: checks that the next run publishes what the embedded engine does.
finish() {
  engine spark run --archives in --as-of "$as_of" --out spark "${settings[@]}"
  diff -rq embedded spark
}

# orphans: waits for each Spark process without a driver, which still finishes its statement.
orphans() { while pgrep -f "$PWD/spark.sqlite.lake" >/dev/null; do sleep 0.2; done; }

# begin_night: restores ledger, lake and set to their state before the run.
begin_night() {
  orphans
  rm -rf spark spark.sqlite*
  [ ! -e kept ] || cp -a kept/. .
}

# count: prints how many parts the lake has.
count() { ls spark.sqlite.lake/events 2>/dev/null | wc -l || true; }

# await STEP: waits until a name appears in the exchange, when a statement begins or ends, or a part
# in the lake, or the set; fails if the driver ends before.
await() {
  while kill -0 $driver 2>/dev/null; do
    case $1 in
      part) [ "$(count)" = "$parts" ] || return 0 ;;
      published) ! diff -rq embedded spark >/dev/null 2>&1 || return 0 ;;
      *) ! ls -d spark.sqlite.lake/exchange-*/$1 >/dev/null 2>&1 || return 0 ;;
    esac
    sleep 0.05
  done
  return 1
}

for night in first next; do
  [ $night = first ] || mv few.jsonl in/
  engine embedded run --archives in --as-of "$as_of" --out embedded "${settings[@]}"
  begin_night
  parts=$(count)
  start
  while kill -0 $driver 2>/dev/null; do
    ls spark.sqlite.lake/exchange-*/ 2>/dev/null || true
    sleep 0.05
  done | awk '/^[a-z]+-[0-9]+(\.sqlite)?$|^files/ && !seen[$0]++
    /^ledger/ && !part++ { print "part" }
    END { print "published" }' >steps
  wait $driver || [ $? = 1 ]
  diff -rq embedded spark
  swept
  mkdir after
  cp -a spark spark.sqlite* after/
  [ $all = 0 ] || printf '%s\n' "$@" >steps
  while read -r step <&3; do
    begin_night
    start
    if ! await "$step" || ! kill -9 $driver 2>/dev/null; then
      [ $all -gt 0 ] || fail "no step $step"
      continue
    fi
    wait $driver 2>/dev/null || true
    if [ "$step" = published ]; then
      diff -rq embedded spark
    elif [ -e kept ]; then
      diff -rq kept/spark spark
    else
      [ ! -e spark ] || fail "the set was published before $step"
    fi
    finish
    echo "  $night run, the driver killed at $step: the same bytes by the next run"
  done 3<steps
  orphans
  finish
  swept
  rm -rf kept
  mv after kept
done

# A part is complete, but its driver dies before the ledger names it.
rm -rf kept embedded*
engine embedded run --archives in --as-of "$as_of" --out embedded "${settings[@]}"
begin_night
start
await 'rows-*'
kill -9 $driver
wait $driver 2>/dev/null || true
orphans
[ "$(count)" = 1 ] || fail "nothing was left"
finish
swept
echo "  what an orphan left is removed"

[ $all = 0 ] || exit 0
for stage in normalise fold; do
  begin_night
  start
  victim=
  while kill -0 $driver 2>/dev/null && [ -z "$victim" ]; do
    victim=$(pgrep -f "$PWD.*stage $stage --job" | head -1 || true)
    sleep 0.02
  done
  kill -9 "$victim"
  if [ $stage = fold ]; then
    status=0
    "$binary" run --ledger spark.sqlite --engine spark --archives in --as-of "$as_of" --out spark \
      2>second.log || status=$?
    [ $status = 75 ] || { cat second.log >&2; exit 1; }
    echo "  a second driver: exit 75"
  fi
  wait $driver || [ $? = 1 ]
  diff -rq embedded spark
  swept
  echo "  a process of stage $stage killed: the same bytes by its second attempt"
done

[ "$(id -u)" = 0 ] || exit 0
rm -rf spark spark.sqlite*
mkdir spark.sqlite.lake
mount -t tmpfs -o size=128k lake spark.sqlite.lake
trap 'umount spark.sqlite.lake; rm -rf "$room"' EXIT
for ((size = 256, failures = 0; ; size *= 2)); do
  mount -o remount,size=${size}k spark.sqlite.lake
  start
  code=0
  wait $driver || code=$?
  [ $code -gt 1 ] || break
  [[ $code = 7[34] ]] || { cat spark.log >&2; fail "exit $code in a lake of $size KiB"; }
  [ ! -e spark ] || fail "published in a lake of $size KiB"
  failures=$((failures + 1))
  echo "  a lake of $size KiB: exit $code, $(grep -c . spark.log) lines"
done
[ $failures -gt 1 ] || fail "only $failures lakes were too small"
diff -rq embedded spark
swept
echo "  a lake of $size KiB: the same bytes"
