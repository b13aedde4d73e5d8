#!/usr/bin/env bash
# Keeps the lake in HDFS, with a name node and two data nodes on this machine: publishes a world in
# four runs, and the sample while servers die, while writes are refused, and without a server.
# usage: HADOOP_CLASSPATH=JARS hdfs.sh PROGRAM; as `hadoop classpath` prints it, or the jars of
# pyspark 2.4.8 without jersey, with Debian's libcommons-daemon-java and libjersey1-*-java
. "$(dirname "$0")/common.sh"
[ -n "${HADOOP_CLASSPATH:-}" ] ||
  { echo "left out: HADOOP_CLASSPATH names no jars of Hadoop's servers"; exit 0; }
url=hdfs://127.0.0.1:$((20000 + RANDOM % 10000))
mkdir -p webapps/{hdfs,datanode}
echo "<configuration/>" >core-site.xml
hadoop=(java -Xmx256m -cp "$room:$HADOOP_CLASSPATH")

# serve NAME CLASS [OPTION...]: starts a server; sets `served` to its process.
serve() {
  local name=$1 class=$2 option all=(-D "fs.defaultFS=$url" -D dfs.webhdfs.enabled=false)
  for option in "dfs.namenode.name.dir=$room/name" dfs.namenode.http-address=127.0.0.1:0 \
    dfs.namenode.safemode.extension=0 "dfs.datanode.data.dir=$room/$name" \
    dfs.datanode{,.http,.ipc}.address=127.0.0.1:0; do all+=(-D "$option"); done
  "${hadoop[@]}" "org.apache.hadoop.hdfs.server.$class" "${all[@]}" "${@:3}" >>"$name.log" 2>&1 &
  served=$! begun+=($!)
}

# publish LEDGER CODES WHAT [WORDS]: publishes the sample; expects one of these exit codes, and the
# same bytes after 0; the server `victim` is killed when the first block is written.
publish() {
  local code=0 run
  rm -rf spark; touch before
  "$binary" run "${sample[@]}" --ledger "$1.sqlite" --engine spark --master "$master" \
    --lake "$url/lake" --out spark >spark.out 2>spark.log &
  run=$!
  if [ -n "${victim:-}" ]; then
    until find data-1 -newer before -name 'blk_*' | grep -q .; do sleep 0.1; done
    kill -9 "$victim"; wait "$victim" 2>/dev/null || true
    [ "$victim" != "$name" ] || serve name namenode.NameNode
  fi
  wait $run || code=$?
  [[ " $2 " = *" $code "* ]] && grep -q "${4:-}" spark.log || fail "exit $code: $(cat spark.log)"
  [ $code != 0 ] || diff -rq "$root/reports" spark
  echo "  $3: exit $code"
}

serve format namenode.NameNode -format -nonInteractive
wait $served || fail "$(cat format.log)"
serve name namenode.NameNode; name=$served
for node in 1 2; do serve data-$node datanode.DataNode; done
for _ in $(seq 200); do ls data-{1,2}/current/BP-* >nodes 2>&1 && break; sleep 0.3; done
LAKE=$url/world "$root/Tests/Spark/worlds.sh" "$binary" webhooks
victim=$served publish one 0 "a data node dies"
victim=$name publish two "0 74" "the name node starts anew"
name=$served
publish two 0 "the same"
"${hadoop[@]}" org.apache.hadoop.hdfs.tools.DFSAdmin -fs "$url" -safemode enter >admin 2>&1
publish three 74 "no writes are taken" "safe mode"
"${hadoop[@]}" org.apache.hadoop.hdfs.tools.DFSAdmin -fs "$url" -safemode leave >admin 2>&1
publish three 0 "the same"
"${hadoop[@]}" org.apache.hadoop.fs.FsShell -ls "$url/lake/events" >parts 2>&1
[ "$(grep -c /part= parts)" = 3 ] || fail "parts of three ledgers: $(cat parts)"
kill "$name"
publish three 74 "no name node" "Connection refused"
