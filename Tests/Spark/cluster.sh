#!/usr/bin/env bash
# Runs the sample on a standalone cluster, and compares the set with the published one. Runs it
# again and kills an executor in each stage; then with a stage that hangs, of which Spark starts a
# duplicate, and an executor that cannot allocate memory.
# usage: cluster.sh PROGRAM
. "$(dirname "$0")/common.sh"
cluster
engine spark run "${sample[@]}" --out spark
diff -rq "$root/reports" spark
executors=$(ls -d worker-*/app-*/* | wc -l)
[ "$executors" -ge 2 ] || fail "$executors executors"
echo "  a cluster with $executors executors: the bytes of reports/"

# start: starts the run in the background, as $driver.
start() {
  rm -rf spark spark.sqlite*
  "$binary" run --ledger spark.sqlite --engine spark --master "$master" "${sample[@]}" --out spark \
    >spark.out 2>spark.log &
  driver=$!
}

# await STAGE: sets $process to the process of a stage, and its executor; none if the run has ended.
await() {
  process= executor=
  while kill -0 $driver 2>/dev/null && [ -z "$executor" ]; do
    process=$(pgrep -f "subledger-[-0-9a-f]* stage $1 --job" | head -1) || continue
    # The process of a stage is a child of its executor.
    executor=$(ps -o ppid= -p "$process" | tr -d ' ') || executor=
  done
}

# finish WORDS: checks that the set is as published.
finish() {
  code=0
  wait $driver || code=$?
  [ $code -le 1 ] || { cat spark.log >&2; fail "exit $code after $*"; }
  diff -rq "$root/reports" spark
  echo "  $*: the bytes of reports/"
}

start
killed=()
for stage in normalise merge fold reconcile; do
  await $stage
  [ -z "$executor" ] || { kill -9 "$executor" && killed+=("$stage"); }
done
finish "executors killed in ${killed[*]}"
[ ${#killed[@]} -ge 3 ] || fail "executors died only in ${killed[*]}"

mkdir conf
cat >conf/spark-defaults.conf <<END
spark.speculation true
spark.speculation.interval 100ms
spark.speculation.task.duration.threshold 3s
END
SPARK_CONF_DIR=$room/conf start
await normalise
kill -STOP "$process"
stopped=$process
until [ "$process" != "$stopped" ]; do
  kill -0 $driver || fail "no duplicate"
  process=$(pgrep -f "subledger-[-0-9a-f]* stage normalise --job" | grep -vx "$stopped" |
    head -1) || process=$stopped
done
await fold
prlimit --pid "$executor" --as=$((64 << 20))
finish "a duplicate of a stage that stands still, and an executor without memory"
kill -9 "$stopped" 2>/dev/null || true
grep -hE "OutOfMemory|insufficient memory|Cannot allocate" worker-*/app-*/*/std* worker-*.log |
  head -1 | grep -q . || fail "the executor had memory enough"
