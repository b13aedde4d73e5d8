#!/usr/bin/env bash
# Runs the sample on a standalone cluster of a master and two workers on this machine, whose PATH
# does not lead to the program, and compares the set with the published one.
# usage: cluster.sh PROGRAM
. "$(dirname "$0")/common.sh"
class=$(command -v spark-class || echo "$SPARK_HOME/bin/spark-class")
port=$((20000 + RANDOM % 20000))
master=spark://127.0.0.1:$port
cluster=()
trap 'kill "${cluster[@]}" 2>/dev/null || true; wait; rm -rf "$room"' EXIT

# begin NAME CLASS [OPTION...]: a process of the cluster.
begin() {
  local name=$1
  shift
  env -i PATH=/usr/bin:/bin HOME="$room" SPARK_HOME="${SPARK_HOME:-}" SPARK_LOCAL_IP=127.0.0.1 \
    "$class" "org.apache.spark.deploy.$1" "${@:2}" >"$name.log" 2>&1 &
  cluster+=($!)
}

begin master master.Master --host 127.0.0.1 --port $port --webui-port 0
for worker in 1 2; do
  begin worker-$worker worker.Worker --host 127.0.0.1 --webui-port 0 -c 1 -m 1g \
    -d "$room/worker-$worker" $master
done
for _ in $(seq 100); do
  [ "$(grep -c 'Registering worker' master.log)" = 2 ] && break
  sleep 0.3
done
engine spark run "${sample[@]}" --out spark
diff -rq "$root/reports" spark
executors=$(ls -d worker-*/app-*/* | wc -l)
[ "$executors" -ge 2 ]
echo "  a cluster with $executors executors: the bytes of reports/"
