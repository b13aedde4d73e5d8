#!/usr/bin/env bash
# Kills drivers at each step and processes of stages, starts a second driver, fills the lake, and
# compares what the next run publishes with what one machine does.
# usage: faults.sh PROGRAM [STEP...]; default: all steps, then the stages and, as root, a full lake
. "$(dirname "$0")/common.sh"
shift
all=$#
[ $all -gt 0 ] || set -- files rows edges merged ledger-2 folded ledger-3 reconciled
master='local[2,4]'
"$binary" simulate --out world --subscribers 60 --months 6 --archives 4 --seed 5 >/dev/null
as_of=$(cut -c1-10 world/truth/as_of.txt)
mkdir in
cp -p world/archives/* in/
settings=(--config world/subledger.yaml --snapshots world/snapshots/sdk)
engine embedded run --archives in --as-of "$as_of" --out embedded "${settings[@]}"

# start: a run by Spark in the background, as $driver.
start() {
  "$binary" run --ledger spark.sqlite --engine spark --master "$master" --archives in \
    --as-of "$as_of" --out spark "${settings[@]}" >spark.out 2>spark.log &
  driver=$!
}

# swept: the lake holds what the ledger names, and nothing else.
swept() {
  [ "$(ls spark.sqlite.lake/events | wc -l)" = \
    "$(sqlite3 spark.sqlite 'select count(distinct part) from lake_archive')" ] ||
    fail "the lake holds parts that no ledger names"
  [ -z "$(ls -d spark.sqlite.lake/exchange-* 2>/dev/null)" ] || fail "an exchange is left"
}

# The file of a step appears in the exchange when its statement begins or ends.
for step; do
  rm -rf spark spark.sqlite*
  start
  while kill -0 $driver 2>/dev/null && ! ls -d spark.sqlite.lake/exchange-*/$step* 2>/dev/null; do
    sleep 0.1
  done >/dev/null
  kill -9 $driver
  wait $driver 2>/dev/null || true
  [ ! -e spark ] || fail "the set was published before $step"
  # Its Spark still ends the statement that it began.
  engine spark run --archives in --as-of "$as_of" --out spark "${settings[@]}"
  diff -rq embedded spark
  echo "  the driver killed at $step: the same bytes by the next run"
done
while pgrep -f "$PWD/spark.sqlite.lake" >/dev/null; do sleep 0.2; done
engine spark run --archives in --as-of "$as_of" --out spark "${settings[@]}"
swept
echo "  what broken runs left is removed"

[ $all = 0 ] || exit 0
for stage in normalise fold; do
  rm -rf spark spark.sqlite*
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
