#!/usr/bin/env bash
# Runs the sample on a standalone cluster, and compares the set with the published one; then once
# more, and kills an executor in each stage.
# usage: cluster.sh PROGRAM
. "$(dirname "$0")/common.sh"
cluster
engine spark run "${sample[@]}" --out spark
diff -rq "$root/reports" spark
executors=$(ls -d worker-*/app-*/* | wc -l)
[ "$executors" -ge 2 ] || fail "$executors executors"
echo "  a cluster with $executors executors: the bytes of reports/"

rm -rf spark spark.sqlite*
"$binary" run --ledger spark.sqlite --engine spark --master "$master" "${sample[@]}" --out spark \
  >spark.out 2>spark.log &
driver=$!
killed=()
for stage in normalise merge fold reconcile; do
  executor=
  # The process of a stage is a child of its executor.
  while kill -0 $driver 2>/dev/null && [ -z "$executor" ]; do
    process=$(pgrep -f "subledger-[-0-9a-f]* stage $stage --job" | head -1) || continue
    executor=$(ps -o ppid= -p "$process" | tr -d ' ') || executor=
  done
  [ -z "$executor" ] || { kill -9 "$executor" && killed+=("$stage"); }
done
code=0
wait $driver || code=$?
[ $code -le 1 ] || { cat spark.log >&2; fail "exit $code after executors died"; }
diff -rq "$root/reports" spark
[ ${#killed[@]} -ge 3 ] || fail "executors died only in ${killed[*]}"
echo "  executors killed in ${killed[*]}: the bytes of reports/"
