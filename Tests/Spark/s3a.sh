#!/usr/bin/env bash
# Keeps the lake at s3a://, on moto's server: publishes a world in four runs, and the sample, whose
# server dies in the first run.
# usage: HADOOP_AWS=JAR[,JAR...] s3a.sh PROGRAM; the jar of hadoop-aws and what it needs
. "$(dirname "$0")/common.sh"
[ -n "${HADOOP_AWS:-}" ] && command -v moto_server >/dev/null ||
  { echo "left out: HADOOP_AWS names no jars, or moto_server is not on the path"; exit 0; }
port=$((20000 + RANDOM % 10000))
server=http://127.0.0.1:$port
export SPARK_CONF_DIR=$room/conf
mkdir conf
cat >conf/spark-defaults.conf <<END
spark.jars $HADOOP_AWS
spark.hadoop.fs.s3a.endpoint $server
spark.hadoop.fs.s3a.endpoint.region us-east-1
spark.hadoop.fs.s3a.path.style.access true
spark.hadoop.fs.s3a.access.key test
spark.hadoop.fs.s3a.secret.key test
spark.hadoop.fs.s3a.attempts.maximum 1
spark.hadoop.fs.s3a.retry.limit 1
END

# serve: starts an empty store with the bucket `lakes`.
serve() {
  moto_server -H 127.0.0.1 -p "$port" >>server.log 2>&1 &
  begun+=($!)
  until curl -sfo bucket -X PUT "$server/lakes"; do sleep 0.2; done
}

# publish: publishes the sample; sets `code` to the exit code.
publish() {
  code=0
  "$binary" run "${sample[@]}" --ledger spark.sqlite --engine spark --master "$master" \
    --lake s3a://lakes/lake --out spark 2>spark.log || code=$?
}

serve
LAKE=s3a://lakes/world "$root/Tests/Spark/worlds.sh" "$binary" webhooks

(until curl -sf "$server/lakes?prefix=lake/events" | grep -q parquet; do sleep 0.1; done
  kill "${begun[0]}") &
publish
[ $code = 74 ] && [ ! -e spark ] || fail "exit $code: $(cat spark.log)"
echo "  without the server, from the first file on: $(head -1 spark.log | cut -c 1-200)"
serve
publish
[ $code = 0 ] || fail "exit $code: $(cat spark.log)"
diff -rq "$root/reports" spark
echo "  after that: the same bytes"
