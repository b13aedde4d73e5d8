#!/usr/bin/env bash
# Measures full runs and a night of both engines: seconds, peak memory of the largest process,
# bytes that Spark shuffled (see docs/scaling.md).
# usage: measure.sh PROGRAM [EVENTS] [MASTER]
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
END
"$binary" simulate --out world --events "${2:-100000}" --archives 20 --lost 0 >/dev/null
end=$(cut -c1-10 world/truth/as_of.txt)
for night in all last; do
  if [ $night = all ]; then
    cp -p $(ls -d world/archives/* | head -19) in/
    as_of=$(date -u -d "$end - 2 days" +%F)
  else
    # A thousandth of all is new.
    zcat "$(ls -d world/archives/* | tail -1)" |
      sed -n "1,$((${2:-100000} / 1000))p" >in/night.jsonl
    as_of=$(date -u -d "$end - 1 day" +%F)
  fi
  for engine in embedded spark; do
    rm -rf history/*
    command time -f "%e s, %M kB" -o time.txt "$binary" run --ledger $engine.sqlite \
      --engine $engine --master "$master" --archives in --as-of "$as_of" --out $engine \
      --config world/subledger.yaml 2>$engine.log || [ $? = 1 ]
    shuffled=$(find history -type f -exec cat {} + |
      awk -F '"Shuffle Bytes Written":' '{ for (i = 2; i <= NF; i++) sum += $i }
        END { printf "%d", sum }')
    echo "$night, $engine: $(tail -1 time.txt), $shuffled bytes shuffled"
  done
  diff -rq embedded spark
done
du -sh embedded.sqlite spark.sqlite spark.sqlite.lake/events | tr '\n' ' '
