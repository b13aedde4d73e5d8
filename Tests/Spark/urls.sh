#!/usr/bin/env bash
# Keeps the lake at a URL that only Spark can list, of the file system `viewfs`, which Spark
# contains: publishes the sample and a nightly run, queries, leaves parts there and removes one.
# usage: urls.sh PROGRAM
. "$(dirname "$0")/common.sh"
mkdir conf away in
export SPARK_CONF_DIR=$room/conf
echo "spark.hadoop.fs.viewfs.mounttable.cluster.link./lakes file://$room/away" \
  >conf/spark-defaults.conf
lake=(--lake viewfs://cluster/lakes/lake)
parts() { ls away/lake/events | grep -c '^part='; }
cp "$root"/sample-data/archives/* in/
mv $(ls in/* | tail -2) .
sample[1]=$room/in
for night in 1 2; do
  engine embedded run "${sample[@]}" --out embedded
  engine spark run "${sample[@]}" --out spark
  diff -rq embedded spark
  mv "$(ls part-* | head -1)" in/
done
[ "$(parts)" = 2 ] && [ ! -e spark.sqlite.lake/events ] || fail "the lake is not at its URL"
echo "  a lake at a URL: the same bytes"

# Only the ledger of a dead driver removes what it left, also after the ledger was moved.
"$binary" run "${sample[@]}" --ledger spark.sqlite --engine spark "${lake[@]}" --master "$master" \
  --out spark >spark.out 2>spark.log &
until [ "$(parts)" = 3 ]; do kill -0 $! || fail "$(cat spark.log)"; sleep 0.1; done
kill -9 $!
wait $! 2>/dev/null || true
while pgrep -f "$PWD/spark.sqlite.lake" >/dev/null; do sleep 0.2; done
own=$(sqlite3 spark.sqlite "select 'part=' || min(part) from lake_archive")
cp -r "away/lake/events/$own" away/lake/events/part=of-others
[ "$(parts)" = 4 ] || fail "nothing is left"
mkdir elsewhere
mv spark.sqlite elsewhere/
engine embedded run "${sample[@]}" --out embedded
(cd elsewhere && engine spark run "${sample[@]}" --out ../spark)
diff -rq embedded spark
[ "$(parts)" = 4 ] && [ -e away/lake/events/part=of-others ] || fail "leftovers: $(parts) parts"
# Another ledger of the same name has its own parts there.
engine spark run "${sample[@]}" --out other
diff -rq "$root/reports" other
mv spark.sqlite other.sqlite
mv elsewhere/spark.sqlite .
engine spark run "${sample[@]}" --out spark
[ "$(parts)" = 5 ] || fail "two ledgers: $(parts) parts"
echo "  what broken runs left is removed, by the ledger whose it was"

mv "away/lake/events/$own" .
for command in "run ${sample[*]} --out spark" "explain revenue_monthly"; do
  code=0
  "$binary" $command --ledger spark.sqlite --engine spark "${lake[@]}" >lost.out 2>lost.log || code=$?
  [ $code = 66 ] && grep -q "lacks part ${own#part=}" lost.log || fail "$code: $(cat lost.log)"
done
mv "$own" away/lake/events/
echo "  a part that is missing is an error"

code=0
"$binary" run "${sample[@]}" --ledger none.sqlite --engine spark --lake s3a://none/lake \
  --out none 2>none.log || code=$?
[ $code = 74 ] && grep -q S3AFileSystem none.log || fail "$code: $(cat none.log)"
"$binary" move --ledger spark.sqlite --engine embedded "${lake[@]}"
[ "$(parts)" = 2 ] || fail "the lake still has $(parts) parts"
diff <(sqlite3 spark.sqlite "select count(*) from lineage") \
  <(sqlite3 embedded.sqlite "select count(*) from lineage")
echo "  events move back from there"
