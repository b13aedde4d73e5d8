#!/usr/bin/env bash
# Keeps the lake at a URL that only Spark can list, of the file system `viewfs`, which comes with
# Spark: publishes the sample and a night, asks, leaves parts there and takes one away.
# usage: urls.sh PROGRAM
. "$(dirname "$0")/common.sh"
mkdir conf away in
export SPARK_CONF_DIR=$room/conf
echo "spark.hadoop.fs.viewfs.mounttable.cluster.link./lakes file://$room/away" \
  >conf/spark-defaults.conf
lake=(--lake viewfs://cluster/lakes/lake)
parts() { ls away/lake/events | grep -c '^part='; }
cp "$root"/sample-data/archives/* in/
last=$(ls in/* | tail -1)
mv "$last" .
sample[1]=in
for night in 1 2; do
  engine embedded run "${sample[@]}" --out embedded
  engine spark run "${sample[@]}" "${lake[@]}" --out spark
  diff -rq embedded spark
  mv "${last#in/}" in/ 2>/dev/null || true
done
[ "$(parts)" = 2 ] && [ ! -e spark.sqlite.lake/events ] || fail "the lake is not at its URL"
echo "  a lake at a URL: the same bytes"

own=$(basename "$(ls -d away/lake/events/part=* | head -1)")
cp -r "away/lake/events/$own" "away/lake/events/${own%-*}-left"
cp -r "away/lake/events/$own" away/lake/events/part=of-others
engine spark run "${sample[@]}" "${lake[@]}" --out spark
[ "$(parts)" = 3 ] && [ -e away/lake/events/part=of-others ] || fail "leftovers: $(parts) parts"
mv "away/lake/events/$own" .
for command in "run ${sample[*]} --out spark" "explain revenue_monthly"; do
  code=0
  "$binary" $command --ledger spark.sqlite --engine spark "${lake[@]}" >lost.out 2>lost.log || code=$?
  [ $code = 66 ] && grep -q "lacks part ${own#part=}" lost.log || fail "$code: $(cat lost.log)"
done
mv "$own" away/lake/events/
echo "  what broken runs left is removed; a part that is missing is an error"

code=0
"$binary" run "${sample[@]}" --ledger other.sqlite --engine spark --lake s3a://none/lake \
  --out other 2>other.log || code=$?
[ $code = 74 ] && grep -q S3AFileSystem other.log || fail "$code: $(cat other.log)"
"$binary" move --ledger spark.sqlite --engine embedded "${lake[@]}"
[ "$(parts)" = 1 ] || fail "the lake still has $(parts) parts"
diff <(sqlite3 spark.sqlite "select count(*) from lineage") \
  <(sqlite3 embedded.sqlite "select count(*) from lineage")
echo "  events move back from there"
