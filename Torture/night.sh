# What crash.sh and disk.sh share: a world, the night between two report sets, and the judgement.
# Sourced with `binary` and `here` set; makes `work`, and removes it at the end.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export binary work

# job FOLDER: one night in FOLDER. Exit 1 says that breaks are open, and that all is published.
job() {
  "$binary" run --archives "$1/archives" --snapshots "$work/world/snapshots/sdk" \
    --config "$work/world/subledger.yaml" --as-of "$as_of" --ledger "$1/ledger.sqlite" \
    --out "$1/reports" --quiet || [ $? -eq 1 ]
}

# same ONE TWO: whether two report sets are the same byte for byte.
same() { diff -rq "$1" "$2" > /dev/null 2>&1; }

# account FOLDER: what a ledger holds, in a few numbers.
account() {
  sqlite3 "$1/ledger.sqlite" \
    'select sum(lines), sum(accepted), sum(duplicates), sum(skipped), sum(rejected) from archive'
}

# fresh: prints a new folder in the state between the first night and the second.
fresh() {
  local folder
  folder=$(mktemp -d -p "$work")
  cp -r "$work/between/." "$folder/"
  mkdir "$folder/copy"
  echo "$folder"
}

# judge FOLDER WHAT: what still holds after WHAT befell the night in FOLDER.
judge() {
  local folder=$1 what=$2
  if ! same "$folder/reports" "$work/first/reports" && ! same "$folder/reports" "$work/second/reports"
  then
    echo "FAILED $what: the published set is neither the old nor the new one"
    return
  fi
  cp "$folder"/ledger.sqlite* "$folder/copy/"
  local sound
  sound=$(sqlite3 "$folder/copy/ledger.sqlite" 'pragma integrity_check' 2>&1) || true
  if [ "$sound" != ok ]; then
    echo "FAILED $what: the ledger is not sound: $sound"
    return
  fi
  if ! job "$folder" > "$folder/log" 2>&1; then
    echo "FAILED $what: the next run: $(tail -1 "$folder/log")"
  elif ! same "$folder/reports" "$work/second/reports"; then
    echo "FAILED $what: the next run publishes other bytes than an undisturbed one"
  elif [ "$(account "$folder")" != "$(account "$work/second")" ]; then
    echo "FAILED $what: the ledger holds other events than after an undisturbed run"
  else
    echo "held $what"
  fi
}

# verdict NAME: the results of work/results in a line; fails when one did.
verdict() {
  local held tried
  grep FAILED "$work/results" || true
  held=$(grep -c '^held' "$work/results" || true)
  tried=$(wc -l < "$work/results")
  echo "$1: $held of $tried held (a night has $operations file operations)"
  [ "$held" -eq "$tried" ] && [ "$tried" -gt 0 ]
}
export -f job same account fresh judge

clang -shared -fPIC -O1 -Wall -Wextra -Werror -o "$work/faults.so" "$here/faults.c" -ldl
"$binary" simulate --out "$work/world" --seed 77 --subscribers 60 --months 6 --archives 6 \
  > /dev/null
as_of=$(cat "$work/world/truth/as_of.txt")
export as_of
mkdir -p "$work/between/archives" "$work/first" "$work/second"
mapfile -t archives < <(ls "$work"/world/archives/*.gz)
cp "${archives[@]:0:4}" "$work/between/archives/"
job "$work/between"
cp -r "$work/between/." "$work/first/"
cp "${archives[@]:4}" "$work/between/archives/"
cp -r "$work/between/." "$work/second/"
began=$(date +%s%N)
FAULT_COUNT=$work/operations LD_PRELOAD=$work/faults.so job "$work/second"
took=$(($(date +%s%N) - began))
operations=$(cat "$work/operations")
if same "$work/first/reports" "$work/second/reports"; then
  echo "the second night publishes nothing new, so nothing can be judged" >&2
  exit 1
fi
