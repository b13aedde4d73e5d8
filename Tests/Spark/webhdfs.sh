#!/usr/bin/env bash
# Keeps the lake on a WebHDFS server: publishes a world in four runs, in which a request fails and
# two connections break, and the sample, whose parts cannot be committed at first.
# usage: webhdfs.sh PROGRAM
. "$(dirname "$0")/common.sh"

# serve FAULT...: starts a server with an empty folder, as `lake`; see webhdfs.py.
serve() {
  rm -rf away port
  mkdir away
  python3 "$root/Tests/Spark/webhdfs.py" away "$@" >port 2>faults &
  begun+=($!)
  until [ -s port ]; do sleep 0.1; done
  lake=(--lake "webhdfs://127.0.0.1:$(cat port)/lake")
}

serve OPEN:20:500 OPEN:50:cut CREATE:10:cut
LAKE=${lake[1]} "$root/Tests/Spark/worlds.sh" "$binary" webhooks
[ "$(wc -l <faults)" = 3 ] || fail "faults: $(cat faults)"
[ "$(ls away/lake/events | wc -l)" -ge 4 ] || fail "the lake is not behind the server"
echo "  after $(cut -d ' ' -f 1-3 faults | tr '\n' ' ')in their tasks: the same bytes"

serve RENAME:20:500
code=0
"$binary" run "${sample[@]}" --ledger spark.sqlite --engine spark --master "$master" "${lake[@]}" \
  --out spark 2>spark.log || code=$?
[ $code = 74 ] && grep -q "out of order" spark.log || fail "exit $code: $(cat spark.log)"
[ ! -e spark ] || fail "published"
engine spark run "${sample[@]}" --out spark
diff -rq "$root/reports" spark
[ "$(ls away/lake/events | wc -l)" = 1 ] || fail "parts are left: $(ls away/lake/events)"
echo "  after a commit that failed: exit 74, and the same bytes by the next run"

kill "${begun[@]}"
code=0
"$binary" run "${sample[@]}" --ledger spark.sqlite --engine spark --master "$master" "${lake[@]}" \
  --out spark 2>spark.log || code=$?
[ $code = 74 ] && grep -q "Connection refused" spark.log || fail "exit $code: $(cat spark.log)"
diff -rq "$root/reports" spark
echo "  without the server: exit 74, $(grep -c . spark.log) lines, and the set stays"
