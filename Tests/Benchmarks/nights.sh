#!/bin/bash
# Times full runs with a snapshot of every user on a simulated world of EVENTS events, and nightly
# runs for its last day: with the same snapshots, and with new ones of every user. Compares them
# with another program that PEER may name (PEER ARCHIVES OUT AS_OF SNAPSHOTS, run by PYTHON), which
# always does a full run.
# usage: Tests/Benchmarks/nights.sh BINARY [FOLDER] [ROUNDS]       (needs: python3, time)
set -euo pipefail

binary=$(realpath "$1")
folder=${2:-${TMPDIR:-/tmp}/subledger-nights}
rounds=${3:-5}
python=${PYTHON:-python3}
mkdir -p "$folder"
cd "$folder"

if [ ! -d before ]; then
  "$binary" simulate --out world --events "${EVENTS:-500000}" --archives 10 --lost 0 --enveloped 0
  "$python" - "$(cat world/truth/as_of.txt)" << 'SPLIT'
import datetime, glob, gzip, os, re, sys
end = int(datetime.datetime.fromisoformat(sys.argv[1].replace("Z", "+00:00")).timestamp())
for name in ("before", "last", "old", "new"): os.makedirs(name)
with gzip.open("last/last.jsonl.gz", "wb", 6) as last:
    for path in sorted(glob.glob("world/archives/*.gz")):
        with gzip.open("before/" + os.path.basename(path), "wb", 6) as before:
            for line in gzip.open(path):
                made = int(re.search(rb'"created_at": ?(\d+)', line).group(1))
                (before if made < end - 86400 else last).write(line)
for path in glob.glob("world/snapshots/sdk/*.gz"):
    os.link(path, "new/" + os.path.basename(path))
    with gzip.open("old/old.jsonl.gz", "wb", 6) as old:
        for line in gzip.open(path):
            old.write(line.replace(b'"captured_at":%d' % (end * 1000),
                                   b'"captured_at":%d' % ((end - 86400) * 1000)))
SPLIT
fi
end=$(date -d "$(cat world/truth/as_of.txt)" +%s)
: > times.txt

# measure NAME COMMAND...: records name, wall seconds, processor seconds and peak KiB. Syncs earlier
# writes to disk first.
measure() {
  local name=$1
  shift
  sync
  /usr/bin/time --quiet -a -o times.txt -f "$name %e %U %S %M" "$@" > /dev/null || [ $? = 1 ]
}

# run NAME DAYS [OPTION...]: a run as of DAYS days before the end.
run() {
  measure "$1" "$binary" run --quiet --config world/subledger.yaml --ledger l.sqlite --out reports \
    --as-of "$(date -u -d "@$((end - $2 * 86400))" +%FT%TZ)" "${@:3}"
}

for round in $(seq "$rounds"); do
  if [ -n "${PEER:-}" ]; then
    mkdir -p peer
    measure peer "$python" "$PEER" before peer $((end - 86400)) old
  fi
  rm -rf l.sqlite* reports
  run run 1 --archives before --snapshots old
  cp -r reports kept && cp l.sqlite kept.sqlite
  run night 0 --archives before last --snapshots old
  rm -rf l.sqlite* reports
  mv kept reports && mv kept.sqlite l.sqlite
  run snapshots 0 --archives before last --snapshots old new
done

sort -s -k1,1 times.txt | awk '
  function median(list, n,   i, j, swap) {
    for (i = 1; i <= n; i++) for (j = i + 1; j <= n; j++)
      if (list[j] < list[i]) { swap = list[i]; list[i] = list[j]; list[j] = swap }
    return list[int((n + 1) / 2)]
  }
  function show() {
    if (n) printf "%-10s %8.2f %8.2f %8.0f\n", name, median(wall, n), median(cpu, n), peak / 1024
  }
  BEGIN { printf "%-10s %8s %8s %8s\n", "what", "wall s", "cpu s", "peak MiB" }
  $1 != name { show(); name = $1; n = 0; peak = 0 }
  { n++; wall[n] = $2; cpu[n] = $3 + $4; if ($5 > peak) peak = $5 }
  END { show() }'
