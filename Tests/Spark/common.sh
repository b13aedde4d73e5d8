# What the tests of the engine spark share; source it with the program's path as $1.
set -euo pipefail
if [ -z "${SPARK_HOME:-}" ] && ! command -v spark-sql >/dev/null; then
  echo "left out: Spark is not installed (pip install pyspark)"
  exit 0
fi
# pip's spark-sql has a script next to it that prints the folder; Spark's own has none.
export SPARK_HOME=${SPARK_HOME:-$(find_spark_home.py 2>/dev/null ||
  dirname "$(dirname "$(realpath "$(command -v spark-sql)")")")}
binary=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
sample=(--archives "$root/sample-data/archives" --snapshots "$root/sample-data/snapshots"
  --config "$root/sample-data/subledger.yaml" --prices "$root/sample-data/prices.csv"
  --as-of 2026-03-01)
export SPARK_LOCAL_IP=127.0.0.1
# Java's simple compiler suits programs that run for seconds.
export JDK_JAVA_OPTIONS=${JDK_JAVA_OPTIONS--XX:TieredStopAtLevel=1}
room=$(mktemp -d)
begun=()
trap 'kill "${begun[@]}" 2>/dev/null || true; wait; rm -rf "$room"' EXIT
cd "$room"
# Tasks may fail three times.
master='local[2,4]'
# The option that names the lake of a Spark ledger.
lake=(${LAKE:+--lake "$LAKE"})

# fail WORDS: prints WORDS and exits.
fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# engine ENGINE COMMAND [OPTION...]: runs the program on the ledger of an engine; sets `code` to its
# exit code, 0 or 1.
engine() {
  local engine=$1 command=$2
  shift 2
  [ "$engine" = embedded ] || set -- "$@" "${lake[@]}"
  code=0
  "$binary" "$command" --ledger "$engine.sqlite" --engine "$engine" --master "$master" "$@" \
    >"$engine.out" 2>"$engine.log" || code=$?
  [ $code -le 1 ] || {
    cat "$engine.log" >&2
    fail "$command with the engine $engine: exit $code"
  }
}

# night AS_OF [OPTION...]: publishes with both engines and compares sets and exit codes; sets `how`
# to `news` if only what may have changed was folded.
night() {
  local as_of=$1 from=$SECONDS first
  how=all
  shift
  engine embedded run --archives in --as-of "$as_of" --out embedded "$@"
  first=$code
  engine spark run --archives in --as-of "$as_of" --out spark --verbose "$@"
  diff -rq embedded spark
  [ "$code" = "$first" ] || fail "exit $first by embedded, $code by spark"
  ! grep -q 'by the driver' spark.log || how=news
  echo "  $as_of: $how folded, the same bytes after $((SECONDS - from)) s"
}

# both COMMAND [OPTION...]: compares the output of both engines, except names of ledgers and
# pseudonyms.
both() {
  local first
  engine embedded "$@"
  first=$code
  engine spark "$@"
  for name in embedded spark; do
    # A Spark ledger has other numbers of rows.
    sed -E "/ ledger\./d; s/$name\.sqlite/LEDGER/g; s/erased-[0-9a-f]{16}/PSEUDONYM/g" \
      $name.out >$name.answer
  done
  diff embedded.answer spark.answer
  [ "$code" = "$first" ] || fail "$1: exit $first by embedded, $code by spark"
  echo "  $1: the same answer"
}

# begin NAME CLASS HOST [OPTION...]: starts a process of a cluster, whose PATH lacks the program.
begin() {
  local name=$1 class=$2 host=$3
  shift 3
  env -i PATH=/usr/bin:/bin HOME="$room" SPARK_HOME="$SPARK_HOME" SPARK_LOCAL_IP="$host" \
    JDK_JAVA_OPTIONS="$JDK_JAVA_OPTIONS" "$SPARK_HOME/bin/spark-class" \
    "org.apache.spark.deploy.$class" --host "$host" "$@" >"$name.log" 2>&1 &
  begun+=($!)
}

# cluster: starts a standalone cluster of a master and two workers on this machine, each as its own
# host, and sets `master`.
cluster() {
  local port=$((20000 + RANDOM % 10000)) worker
  master=spark://127.0.0.1:$port
  begin master master.Master 127.0.0.1 --port "$port" --webui-port 0
  for worker in 1 2; do
    begin worker-$worker worker.Worker 127.0.0.$worker --webui-port 0 -c 1 -m 1g \
      -d "$room/worker-$worker" "$master"
  done
  for _ in $(seq 200); do
    [ "$(grep -c 'Registering worker' master.log)" = 2 ] && return
    sleep 0.3
  done
  cat master.log >&2
  fail "the cluster does not start"
}
