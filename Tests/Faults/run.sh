# What the other scripts of this folder share: a world, the runs to disturb, and the checks.
# Source it with `binary` and `here` set; it creates `work`, and removes it at the end.
#
# `state` names the state in which a run is disturbed:
#   between  four of six archives are read and published, and the published folder contains other
#            files; the run reads the other two archives
#   start    the first run: no ledger, no reports
# With `copies=N` every line of the world is delivered N times. With `seam=1` reports are renamed
# one by one, as on a filesystem that cannot exchange folders; while they are, old and new files are
# mixed and do not match their SHA256SUMS.

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
state=${state:-between}
seam=${seam:-}
export binary work state seam

# run FOLDER COMMAND...: runs once in FOLDER by COMMAND, which ends with the program's name.
run() {
  local folder=$1
  shift
  "$@" run --archives "$folder/archives" --snapshots "$work/world/snapshots/sdk" \
    --config "$work/world/subledger.yaml" --as-of "$as_of" --ledger "$folder/ledger.sqlite" \
    --out "$folder/reports" ${talk:---quiet}
}

# limited COMMAND...: runs COMMAND for at most two minutes, without a debugger after a crash.
limited() { SWIFT_BACKTRACE=enable=no timeout -k 5 120 "$@"; }

# job FOLDER: an undisturbed run. Exit code 1 means: published, with open breaks.
job() { run "$1" limited "$binary" || [ $? -eq 1 ]; }

# disturbed FOLDER VARIABLE...: a run with these faults; sets `code` to its exit code and writes its
# messages to FOLDER/log.
disturbed() {
  local folder=$1
  shift
  code=0
  {
    run "$folder" limited env "LD_PRELOAD=$work/faults.so" ${seam:+FAULT_NO_EXCHANGE=1} "$@" \
      "$binary" > "$folder/log" 2>&1
  } 2> /dev/null || code=$?
}

# same ONE TWO: whether two report sets are equal byte for byte, or both missing.
same() {
  if [ ! -e "$1" ] || [ ! -e "$2" ]; then [ ! -e "$1" ] && [ ! -e "$2" ]; return; fi
  diff -rq "$1" "$2" > /dev/null 2>&1
}

# account FOLDER: prints a few counts of a ledger's content.
account() {
  # Several processes read one ledger at a time; the last to close it removes its log.
  sqlite3 -cmd '.timeout 10000' "$1/ledger.sqlite" \
    'select sum(lines), sum(accepted), sum(duplicates), sum(skipped), sum(rejected) from archive'
}

# fresh: creates a folder in the state before the run, and prints its path.
fresh() {
  local folder
  folder=$(mktemp -d -p "$work")
  cp -rp "$work/before/$state/." "$folder/"
  mkdir "$folder/copy"
  echo "$folder"
}

# is_done FOLDER: whether the published set is that of an undisturbed run.
is_done() { same "$1/reports" "$work/after/$state/reports"; }

# is_whole FOLDER: whether the published set is the old or the new one, or is marked as changing.
is_whole() {
  same "$1/reports" "$work/before/$state/reports" || is_done "$1" ||
    { [ -n "$seam" ] && is_mixed "$1" &&
      ! (cd "$1/reports" && sha256sum --check --status SHA256SUMS); }
}

# is_mixed FOLDER: whether each file of the new set exists with its old or its new bytes; one that
# the old set lacks may be missing.
is_mixed() {
  local file old=$work/before/$state/reports new=$work/after/$state/reports
  (cd "$new" && find . -type f) | while read -r file; do
    [ ! -e "$old/$file" ] && [ ! -e "$1/reports/$file" ] && continue
    cmp -s "$old/$file" "$1/reports/$file" || cmp -s "$new/$file" "$1/reports/$file" || return 1
  done
}

# is_sound FOLDER: whether the ledger, if there is one, is an intact database.
is_sound() {
  [ -e "$1/ledger.sqlite" ] || return 0
  cp "$1"/ledger.sqlite* "$1/copy/"
  [ "$(sqlite3 "$1/copy/ledger.sqlite" 'pragma integrity_check' 2>&1)" = ok ]
}

# is_known FOLDER: whether the ledger contains what the published set reports.
is_known() { ! is_done "$1" || holds_all "$1/copy"; }

# holds_all FOLDER: whether the ledger contains what it does after an undisturbed run.
holds_all() { [ "$(account "$1")" = "$(account "$work/after/$state")" ]; }

# judge FOLDER WHAT: checks the promises after WHAT disturbed the run in FOLDER.
judge() {
  local folder=$1 what=$2
  if ! is_whole "$folder"; then
    echo "FAILED $what: the published set is neither the old nor the new one"
  elif ! is_sound "$folder"; then
    echo "FAILED $what: the ledger is not sound"
  elif ! is_known "$folder"; then
    echo "FAILED $what: the new set is published, and the ledger does not know its events"
  elif ! job "$folder" > "$folder/log" 2>&1; then
    echo "FAILED $what: the next run: $(tail -1 "$folder/log")"
  else
    judge_end "$folder" "$what"
  fi
}

# judge_end FOLDER WHAT: checks that FOLDER is as after an undisturbed run.
judge_end() {
  local folder=$1 what=$2
  if ! is_done "$folder"; then
    echo "FAILED $what: the next run publishes other bytes than an undisturbed one"
  elif ! holds_all "$folder"; then
    echo "FAILED $what: the ledger holds other events than after an undisturbed run"
  elif compgen -G "$folder/.*.staging-*" > /dev/null; then
    echo "FAILED $what: the next run leaves a folder of the disturbed one behind"
  else
    echo "held $what"
  fi
}

# judge_exit FOLDER WHAT CODE...: like judge, for a run that must have published (0, 1), or have
# ended with one of CODE and a message.
judge_exit() {
  local folder=$1 what=$2 allowed
  shift 2
  if [ "$code" -le 1 ]; then
    if is_done "$folder"; then
      judge "$folder" "$what"
    else
      echo "FAILED $what: exit $code, and the new set is not published"
    fi
    return
  fi
  for allowed in "$@"; do
    [ "$code" = "$allowed" ] || continue
    if grep -q '^subledger: .' "$folder/log"; then
      judge "$folder" "$what, exit $code"
    else
      echo "FAILED $what: exit $code without a word"
    fi
    return
  done
  echo "FAILED $what: exit $code, $(tail -1 "$folder/log")"
}

# numbers FOLDER: whether the set in FOLDER has the numbers of an undisturbed run, apart from how
# and when the input arrived: that covers breaks that were open for one run and are resolved, and
# the archives and runs in the list of charges, whose sums are those of revenue_monthly.csv.
numbers() {
  diff -rq -x inputs.csv -x rejects.csv -x deliveries_daily -x restatements.csv -x outages.csv \
    -x summary_monthly.csv -x index.html \
    -x charges -x unknown_input.csv -x breaks.csv -x breaks_history.csv -x datapackage.json -x SHA256SUMS \
    "$1/reports" "$work/after/$state/reports" > /dev/null 2>&1 &&
    cmp -s <(grep -v ,resolved, "$1/reports/breaks.csv") \
      <(grep -v ,resolved, "$work/after/$state/reports/breaks.csv")
}

# operations [VARIABLE...]: prints how many operations such a run has; fails if it has none.
operations() {
  local folder
  folder=$(fresh)
  disturbed "$folder" "FAULT_COUNT=$folder/operations" "$@"
  if ! grep -sx '[1-9][0-9]*' "$folder/operations"; then
    echo "no operation was counted: $(tail -1 "$folder/log")" >&2
    return 1
  fi
  rm -rf "$folder"
}

# some COUNT POINTS: prints about POINTS numbers of 1 to COUNT, evenly spread.
some() {
  awk -v count="$1" -v points="$2" 'BEGIN {
    step = count > points ? count / points : 1
    for (n = (step + 1) / 2; n < count + 1; n += step) print int(n)
  }'
}

# moment: prints a random moment of a run, in seconds.
moment() { awk -v n="$RANDOM" -v t="$took" 'BEGIN { printf "%.3f", n / 32768 * t / 1e9 }'; }

# each: runs the commands on standard input, several at a time, and keeps their output; a command
# without output has failed.
each() {
  xargs -P "$(nproc)" -I{} bash -c 'said=$({}) || true; echo "${said:-FAILED silently: {}}"' \
    >> "$work/results" 2> /dev/null
}

# verdict NAME PATTERN...: sums up the output in one line; fails if a check failed, or if no
# successful line matches one of PATTERN, because then no run met the intended fault.
verdict() {
  local name=$1 held tried pattern missing=0
  shift
  grep FAILED "$work/results" || true
  for pattern in "$@"; do
    grep -q "^held .*$pattern" "$work/results" && continue
    echo "FAILED $name: nothing that held has '$pattern'"
    missing=1
  done
  held=$(grep -c '^held' "$work/results" || true)
  tried=$(wc -l < "$work/results")
  echo "$name: $held of $tried held ($SECONDS s)"
  [ "$held" -eq "$tried" ] && [ "$tried" -gt 0 ] && [ "$missing" = 0 ]
}
export -f run limited job disturbed same account fresh
export -f is_mixed is_done is_whole is_sound is_known holds_all
export -f judge judge_end judge_exit numbers

clang -shared -fPIC -O1 -Wall -Wextra -Werror -o "$work/faults.so" "$here/faults.c" -ldl
"$binary" simulate --out "$work/world" --seed 77 --subscribers "${subscribers:-60}" --months 6 \
  --archives 6 > /dev/null
as_of=$(cat "$work/world/truth/as_of.txt")
export as_of
mapfile -t archives < <(ls "$work"/world/archives/*.gz)
if [ "${copies:-1}" -gt 1 ]; then
  for archive in "${archives[@]}"; do
    zcat "$archive" > "$work/lines"
    for _ in $(seq "$copies"); do cat "$work/lines"; done | gzip -1 > "$archive"
  done
fi
mkdir -p "$work/before/start/archives" "$work/before/between/archives" "$work/after"
cp -p "${archives[@]}" "$work/before/start/archives/"
cp -p "${archives[@]:0:4}" "$work/before/between/archives/"
job "$work/before/between"
# Every comparison includes the other files in the published folder.
mkdir -p "$work/before/between/reports/inbox/deep"
echo kept | tee "$work/before/between/reports/inbox/deep/note" > "$work/before/between/reports/note"
cp -p "${archives[@]:4}" "$work/before/between/archives/"
cp -rp "$work/before/." "$work/after/"
job "$work/after/start"
began=$(date +%s%N)
job "$work/after/between"
took=$(($(date +%s%N) - began))
export took
if same "$work/before/between/reports" "$work/after/between/reports"; then
  echo "the second run publishes nothing new, so nothing can be judged" >&2
  exit 1
fi
