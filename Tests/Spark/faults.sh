#!/usr/bin/env bash
# Kills drivers at each step and processes of stages, starts a second driver, and compares what the
# next run publishes with what one machine does.
# usage: faults.sh PROGRAM
. "$(dirname "$0")/common.sh"
shift
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

# compare: what Spark published, and that the lake holds nothing else.
compare() {
  diff -rq embedded spark
  [ "$(ls spark.sqlite.lake/events | wc -l)" = \
    "$(sqlite3 spark.sqlite 'select count(distinct part) from lake_archive')" ]
  ! ls -d spark.sqlite.lake/exchange-* 2>/dev/null
}

# The file of a step appears in the exchange when its statement begins or ends.
for step in files rows edges merged ledger-2 folded ledger-3 reconciled; do
  rm -rf spark spark.sqlite* 
  start
  while kill -0 $driver 2>/dev/null && ! ls -d spark.sqlite.lake/exchange-*/$step* 2>/dev/null; do
    sleep 0.1
  done >/dev/null
  kill -9 $driver
  wait $driver 2>/dev/null || true
  [ ! -e spark ] || { echo "the set was published before $step" >&2; exit 1; }
  engine spark run --archives in --as-of "$as_of" --out spark "${settings[@]}"
  compare
  echo "  the driver killed at $step: the same bytes by the next run"
done

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
  compare
  echo "  a process of stage $stage killed: the same bytes by its second attempt"
done
