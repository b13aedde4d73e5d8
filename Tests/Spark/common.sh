# What the tests of the engine spark share; sourced with the program's path as $1.
set -euo pipefail
if [ -z "${SPARK_HOME:-}" ] && ! command -v spark-sql >/dev/null; then
  echo "left out: Spark is not installed (pip install pyspark)"
  exit 0
fi
binary=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
sample=(--archives "$root/sample-data/archives" --snapshots "$root/sample-data/snapshots"
  --config "$root/sample-data/subledger.yaml" --prices "$root/sample-data/prices.csv"
  --as-of 2026-03-01)
export SPARK_LOCAL_IP=127.0.0.1
room=$(mktemp -d)
trap 'rm -rf "$room"' EXIT
cd "$room"
master=local[2]

# engine ENGINE COMMAND [OPTION...]: the program on the ledger of an engine; 0 also when a gate fails.
engine() {
  local engine=$1 command=$2 status=0
  shift 2
  "$binary" "$command" --ledger "$engine.sqlite" --engine "$engine" --master "$master" "$@" \
    >"$engine.out" 2>"$engine.log" || status=$?
  if [ $status -gt 1 ]; then
    cat "$engine.log" >&2
    return $status
  fi
}

# night AS_OF [OPTION...]: publishes by both engines and compares the sets.
night() {
  local as_of=$1 from=$SECONDS
  shift
  engine embedded run --archives in --as-of "$as_of" --out embedded "$@"
  engine spark run --archives in --as-of "$as_of" --out spark "$@"
  diff -rq embedded spark
  echo "  $as_of: $(ls in | wc -l) archives, the same bytes after $((SECONDS - from)) s"
}

# both COMMAND [OPTION...]: compares what both engines answer; names of ledgers and pseudonyms aside.
both() {
  engine embedded "$@"
  engine spark "$@"
  for name in embedded spark; do
    sed -E "s/$name\.sqlite/LEDGER/g; s/erased-[0-9a-f]{16}/PSEUDONYM/g" $name.out >$name.answer
  done
  diff embedded.answer spark.answer
  echo "  $1: the same answer"
}
