#!/usr/bin/env bash
# Publishes simulated worlds with both engines, in four runs each, and compares every byte; then
# queries and changes both ledgers, and moves their events to the other engine.
# usage: worlds.sh PROGRAM [WORLD...]; worlds: all webhooks others
. "$(dirname "$0")/common.sh"
shift
[ $# -gt 0 ] || set -- all webhooks others

# make NAME OPTION...: creates a world of nine archives, plus one of conflicts and one of copies.
make_world() {
  "$binary" simulate --out world --months 8 --archives 9 --lost 10000 --delayed 60000 \
    --duplicated 40000 --reordered 20000 --sandbox 20000 "$@" >/dev/null
  (cd world/archives && ls) >names
}

# deliver NIGHT: adds this run's third of the archives. In the first run, one archive is cut off in
# the middle, and a file has the first lines of the last archive; the file grows in the second run,
# which also adds the same events in other bodies. The third run adds some of everything again, and
# all but the last lines; the fourth adds these. Snapshots arrive from the second run on.
deliver() {
  mkdir -p in seen
  sed -n "$(($1 * 3 - 2)),$(($1 * 3))p" names | while read -r name; do
    cp -p "world/archives/$name" in/
  done
  case $1 in
    1)
      cut=$(sed -n 3p names)
      head -c "$(($(stat -c %s "world/archives/$cut") / 2))" "world/archives/$cut" >"in/$cut" ;;
    2)
      cp -p "world/archives/$(sed -n 3p names)" in/
      zcat in/*.gz | sed -n '1~9p' | sed -E 's/"(currency|country)": ?"[A-Z]+"/"\1":"CHF"/g' \
        >in/conflicts.jsonl
      [ ! -d world/snapshots/sdk ] || zcat world/snapshots/sdk/*.gz |
        sed -E 's/"captured_at":[0-9]+/"captured_at":'"$early/" >seen/early.jsonl ;;
    3)
      zcat in/*.gz | sed -n '1~5p' >in/copies.jsonl
      for shape in sdk flobuk iaptic purple; do
        [ ! -d world/snapshots/$shape ] || zcat world/snapshots/$shape/*.gz >seen/$shape.jsonl
      done
      last=$(tail -1 names)
      rm -f "in/$last"
      zcat "world/archives/$last" | head -n -9 >in/last.jsonl ;;
    4) zcat "world/archives/$(tail -1 names)" | tail -n 9 >in/few.jsonl ;;
  esac
  zcat "world/archives/$(tail -1 names)" | sed -n "1,$(($1 * 20))p" >in/growing.jsonl
}

settings=()
for world; do
  echo "$world"
  rm -rf ./*
  snapshots=()
  case $world in
    all)
      make_world --subscribers 60 --providers qonversion,flobuk,iaptic,purple --enveloped 300000 \
        --fault double_charge=9000 --fault double_kind=9000 --fault impossible_rate=4000 \
        --entitlements current --migrate purple/qonversion/2024-05-01/2024-06-01 --seed 7
      snapshots=(--snapshots seen) ;;
    webhooks) make_world --subscribers 400 --entitlements stale --seed 8 ;;
    others)
      make_world --subscribers 400 --providers flobuk,iaptic,purple --seed 9
      snapshots=(--snapshots seen) ;;
  esac
  settings=(--config world/subledger.yaml)
  [ ! -e world/prices.csv ] || settings+=(--prices world/prices.csv)
  end=$(cut -c1-10 world/truth/as_of.txt)
  early=$(date -u -d "$end - 4 weeks" +%s)000
  for night in 1 2 3; do
    deliver $night
    night "$(date -u -d "$end - $((9 - night * 3)) weeks" +%F)" "${settings[@]}" "${snapshots[@]}"
  done
  deliver 4
  night "$end" "${settings[@]}" "${snapshots[@]}"
  [ $how = news ] || fail "all is folded for a few events"
  [ "$world" = all ] || continue
  transaction=$(sqlite3 embedded.sqlite "select original from lineage where typeof(original) =
    'integer' order by key limit 1")
  both explain --subscription "$transaction" --config world/subledger.yaml
  both explain revenue_monthly charges --config world/subledger.yaml
  both drill --events 20 "${settings[@]}"
  both retract conflicts.jsonl --reason test --who test
  night "$end" "${settings[@]}" "${snapshots[@]}"
  both verify --replay --out embedded
  for name in embedded spark; do engine $name report --at-run 2 --out at-$name; done
  diff -rq at-embedded at-spark
  both prune --before 2024-06 --reason test --who test
  # Each ledger continues with the other engine.
  "$binary" move --ledger embedded.sqlite --engine spark --lake lake --master "$master"
  "$binary" move --ledger spark.sqlite --engine embedded --master "$master"
  [ -z "$(ls spark.sqlite.lake/events)" ] || { echo "the lake is not empty" >&2; exit 1; }
  rm -r spark.sqlite.lake
  mv embedded.sqlite moved && mv spark.sqlite embedded.sqlite && mv moved spark.sqlite
  mv lake spark.sqlite.lake
  night "$(date -u -d "$end + 1 week" +%F)" "${settings[@]}" "${snapshots[@]}"
  person=$(sqlite3 embedded.sqlite "select id from user order by key limit 1")
  both erase "$person" --reason test --who test
  [ "$(ls spark.sqlite.lake/events | wc -l)" = 1 ]
  "$binary" move --ledger spark.sqlite --engine embedded --master "$master"
  if grep -qa "$person" spark.sqlite*; then
    echo "the lake still named who was erased" >&2
    exit 1
  fi
done
