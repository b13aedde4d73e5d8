#!/usr/bin/env bash
# Runs the sample on Spark and compares the set with the published one.
# usage: sample.sh PROGRAM
. "$(dirname "$0")/common.sh"
engine spark run "${sample[@]}" --out spark
diff -rq "$root/reports" spark
echo "Spark publishes the bytes of reports/, in $SECONDS s"
