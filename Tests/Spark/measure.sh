#!/usr/bin/env bash
# Measures full runs and a nightly run with both engines: seconds, processor seconds, peak memory of
# the largest process, and bytes that Spark read and shuffled (see docs/scaling.md).
# usage: measure.sh PROGRAM [EVENTS] [MASTER] [COPIES, at most 10, of a world of EVENTS ÷ COPIES]
. "$(dirname "$0")/common.sh"
master=${3:-local[2]}
unset JDK_JAVA_OPTIONS
export SPARK_CONF_DIR=$room/conf
mkdir conf history in
cat >conf/spark-defaults.conf <<END
spark.driver.memory 2g
spark.eventLog.enabled true
spark.eventLog.dir $room/history
spark.eventLog.compress false
spark.eventLog.rolling.enabled false
# Its reads would not be counted.
spark.hadoop.parquet.hadoop.vectored.io.enabled false
END
# moved COUNTER: prints the sum of a counter in Spark's event log.
moved() {
  find history -type f -exec cat {} + |
    awk -F "$1" '{ for (i = 2; i <= NF; i++) sum += $i } END { printf " %.0f", sum }'
}

events=${2:-100000}
copies=${4:-1}
"$binary" simulate --out world --events $((events / copies)) --archives 20 --lost 0 >/dev/null
end=$(cut -c1-10 world/truth/as_of.txt)
# Each copy has its own users, subscriptions and transactions.
for copy in $(seq 1 $((copies - 1))); do
  for archive in world/archives/part-*; do
    zcat "$archive" | perl -pe "s/\b2\d(?=\d{14}\b)/2$copy/g; s/GPA\.330\d/GPA.330$copy/g;
      s/(in_1|sub_1)Q/\${1}$copy/g; s/(QON_|acct-|_q_user_id\W+)\w/\${1}$copy/g;
      s/\bu-(?=\d)/u-$copy-/g" | gzip -1 >"${archive/part/copy-$copy}"
    touch -r "$archive" "${archive/part/copy-$copy}"
  done
done
last=$(ls world/archives | sed 's/.*-//' | sort | tail -1)
for night in all last; do
  # The last thousandth arrives in the second run.
  for archive in world/archives/*; do
    lines=$((events / 1000 / copies)) name=$(basename "$archive" .gz)
    if [ "${archive##*-}" != "$last" ]; then
      [ $night = last ] || cp -p "$archive" in/
    elif [ $night = all ]; then
      zcat "$archive" | head -n -$lines >"in/$name"
    else
      zcat "$archive" | tail -n $lines >"in/night-$name"
    fi
  done
  as_of=$(date -u -d "$end - $([ $night = all ] && echo 1 || echo 0) day" +%F)
  for engine in embedded spark; do
    rm -rf history/*
    command time -f "%e s, processor %U + %S s, %M kB" -o time.txt \
      "$binary" run --ledger $engine.sqlite --engine $engine --master "$master" --archives in \
      --as-of "$as_of" --out $engine --config world/subledger.yaml --verbose 2>$engine.log ||
      [ $? = 1 ]
    echo "$night, $engine: $(tail -1 time.txt)$(moved '"Bytes Read":') bytes read,$(
      moved '"Shuffle Bytes Written":') shuffled$(
        sed -n 's/.* info: only what/, only what/p' $engine.log)"
  done
  diff -rq embedded spark
done
du -sh embedded.sqlite spark.sqlite spark.sqlite.lake/events | tr '\n' ' '
