#!/usr/bin/env bash
# Runs the nightly job on hostile files.
#
# Promised (docs/reliability.md): whatever is in the folder, the job ends with the right exit code
# and in bounded memory, counts and names what it cannot read, and counts the good line next to it.
# Memory is that of the whole process, as the kernel counts it.
# usage: Tests/Faults/hostile.sh BINARY [POINTS]
#   POINTS below 20 skips the decompression bombs
set -euo pipefail
binary=$(realpath "$1")
points=${2:-100}
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
held=0
tried=0
good='{"event_name":"subscription_started","user_id":"QON_1","time":1772193600,'
good+='"created_at":1772193660,"product_id":"p","revenue":{"value":9.99,"value_usd":9.99,'
good+='"currency":"USD","is_proceed":0,"proceeds_rate":70},"transaction":{"transaction_id":1,'
good+='"original_transaction_id":1,"expires":1774612800,"grace_period_expires":null,'
good+='"transaction_date":1772193600},"environment":"production","platform":"iOS",'
good+='"country":"US","app_id":"1","entitlements":{}}'

# another N: prints the good line of another purchase, N seconds later.
another() { echo "${good//1772193600/177219360$1}" | sed "s/_id\":1,/_id\":10$1,/g"; }

# repeat COUNT TEXT: prints TEXT that many times, without line ends.
repeat() { { yes "$2" || true; } | head -n "$1" | tr -d '\n'; }

# fresh: creates a new folder to fill, `in`.
fresh() {
  rm -rf "$work/run"
  mkdir -p "$work/run/in"
  cd "$work/run"
}

# run WHAT EXIT MB ACCEPTED REJECTED [OPTION...]: one run over `in` must end with EXIT, stay below
# MB, and count that many lines; `-` accepts anything. A run that hangs is killed.
run() {
  local what=$1 exit=$2 megabytes=$3 accepted=$4 rejected=$5 code=0 memory counted problem=
  shift 5
  tried=$((tried + 1))
  rm -f time
  ${PRELOAD:+env LD_PRELOAD="$PRELOAD"} /usr/bin/time -q -f %M -o time timeout -k 1 300 \
    "$binary" run --archives in --as-of 2026-03-01 --ledger ledger.sqlite --out out --quiet "$@" \
    > log 2>&1 < /dev/null || code=$?
  memory=$(($(tail -1 time) / 1024))
  counted="- -"
  if [ -f ledger.sqlite ]; then
    counted=$(sqlite3 -separator ' ' ledger.sqlite \
      'select coalesce(sum(accepted), 0), coalesce(sum(rejected), 0) from archive')
  fi
  [ "$code" = "$exit" ] || problem="exit $code instead of $exit: $(tail -1 log)"
  [ "$memory" -le "$megabytes" ] || problem+=" $memory MB instead of $megabytes"
  [ "$accepted" = - ] || [ "$counted" = "$accepted $rejected" ] ||
    problem+=" accepted and rejected: $counted instead of $accepted $rejected"
  [ "$code" = 0 ] || [ "$code" = 1 ] || [ -s log ] || problem+=" not a word"
  if LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' log; then problem+=" control characters"; fi
  if [ -n "$problem" ]; then
    echo "FAILED $what:$problem"
  else
    held=$((held + 1))
    printf '%-58s exit %2d %4d MB\n' "$what" "$code" "$memory"
  fi
}

# reported PATTERN: whether the last run rejected a line with this reason and detail.
reported() {
  if ! grep -q "$1" out/rejects.csv; then
    echo "FAILED rejects.csv lacks $1"
    held=$((held - 1))
  fi
}

values() {
  fresh
  { repeat 500000 '[['; echo; repeat 500000 '{"a":'; echo; echo "$good"; } > in/x
  run "a million brackets, half a million objects" 0 64 1 2
  reported 'nested more than 64 deep'
  fresh
  { echo "{$(seq -f '"k%.0f":1' -s, 900000)}"; echo "$good"; } > in/x
  run "an object with 900,000 members" 0 160 1 1
  fresh
  { repeat 3000000 '[],' | sed 's/^/[/; s/,$/]/'; echo; echo "$good"; } > in/x
  run "three million lists in a list" 0 160 1 1
  reported 'holds more than 2097152 values'
  fresh
  { echo "{$(repeat 900000 '"event_name":"x",')\"a\":1}"; echo "$good"; } > in/x
  run "one key 900,000 times" 0 160 1 1
  fresh
  { echo "{\"time\":$(repeat 10000000 9)}"; echo "$good"; } > in/x
  run "a number of 10 MB" 0 96 1 1
  reported 'a number is longer than 4096 bytes'
  fresh
  {
    echo "${good/QON_1/\\ud800}"
    echo "${good/QON_1/$'\xff\xfe'}"
    echo "${good/QON_1/$'\x01'}"
    head -c 100 /dev/zero
    echo
    echo "$good"
  } > in/x
  run "half a surrogate pair, broken UTF-8, controls, NUL" 0 64 1 4
  reported 'half of a surrogate pair'
  reported 'not valid UTF-8'
  fresh
  { repeat 60000 '{"type":"x"}'; echo; echo "$good"; } > in/x
  run "60,000 values glued on a line" 1 96 1 60000
  fresh
  { printf '{"a":"'; repeat 3000000 'xxxxxx'; printf '"}'; echo "$good"; } > in/x
  run "a value beyond limits.value_bytes, glued to a good one" 0 96 1 1
  reported 'longer than limits.value_bytes'
  fresh
  {
    printf '{"type":"purchases.updated","applicationUsername":"u","password":"p","purchases":{'
    seq -f '%.0f' 10000 | sed 's/.*/"google:p&":{"productId":"google:p&","purchaseId":"google:GPA.&","platform":"google","sandbox":false,"purchaseDate":"2025-07-08T18:40:00.000Z","expirationDate":"2025-11-08T08:53:20.000Z","isExpired":false}/' | paste -sd,
    printf '}}'
  } | tr -d '\n' > in/x
  printf '\n%s\n' "$good" >> in/x
  run "10,000 purchases of one user in a line" 0 256 2 0
}

archives() {
  fresh
  : > in/empty
  echo "$good" > in/x
  run "an empty file" 0 64 1 0
  fresh
  head -c 50000000 /dev/zero | tr '\0' '\n' > in/newlines
  echo "$good" > in/x
  run "50 million empty lines" 0 64 1 0
  fresh
  echo "$good" | gzip | head -c 60 > in/torn.gz
  printf '\x1f\x8b' > in/stub.gz
  { another 1 | gzip; echo rubbish; } > in/tail.gz
  echo "$good" > in/x
  run "torn archives and rubbish behind a member" 0 64 2 0
}

bombs() {
  fresh
  head -c 1073741824 /dev/zero | gzip -9 > gib.gz
  for _ in {1..10}; do cat gib.gz; done > in/zeros.gz
  echo "$good" > in/x
  run "10 GiB of zeros in 10 MB" 0 96 1 1
  fresh
  head -c 1073741824 /dev/zero | tr '\0' '\n' | gzip -9 > in/newlines.gz
  echo "$good" > in/x
  run "1 GiB of newlines in 1 MB" 0 96 1 0
  fresh
  head -c 1073741824 /dev/zero | gzip -9 | gzip -9 > in/twice.gz
  echo "$good" > in/x
  run "1 GiB of zeros, packed twice into 2 KB" 0 96 1 1
  fresh
  { printf '{"a":"'; head -c 2147483648 /dev/zero | tr '\0' x; printf '"}\n'; } | gzip -1 > in/long.gz
  echo "$good" > in/x
  run "a line of 2 GiB" 0 96 1 1
  fresh
  head -c 4000000 /dev/zero | sed 's/\x0/[]/g' | gzip -1 > in/glued.gz
  echo "$good" > in/x
  run "4 million values glued on a line" 1 384 1 4000000
  fresh
  mkdir in/{100..199}
  for folder in {100..199}; do
    for file in {100..1099}; do
      echo "${good//_id\":1,/_id\":$folder$file,}" > "in/$folder/$file"
    done
  done
  run "100,000 files" 0 256 100000 0
}

folders() {
  fresh
  echo "$good" > in/x
  mkfifo in/pipe
  mkdir in/deep
  ln -s .. in/deep/up
  ln -s . in/self
  ln -s loop in/loop
  ln -s /dev/zero in/zero
  ln -s /dev/tty in/tty
  mknod in/device c 1 5 2> /dev/null || true
  run "pipes, devices, and links in circles" 0 64 1 0 --verbose
  fresh
  echo "$good" > in/x
  for name in $'new\nline' $'\e[31mred\a' $'bad\xff\xfe' '=cmd|calc' $'\u202eturned'; do
    echo "$name" > "in/$name"
  done
  run "names with newlines, escapes, broken UTF-8, formulas" 0 64 1 6
  if LC_ALL=C grep -q $'[\x01-\x08\x0b-\x1f\x7f]' out/*.csv out/index.html out/datapackage.json; then
    echo "FAILED control characters in the set"
    held=$((held - 1))
  fi
  if ! grep -q "^'=cmd" out/inputs.csv; then
    echo "FAILED a name that a spreadsheet would run"
    held=$((held - 1))
  fi
  fresh
  echo "$good" > in/x
  deep=in
  for n in $(seq 200); do deep+=/$n; done
  mkdir -p "$deep"
  echo "x" > "$deep/y"
  run "a file 200 folders deep" 0 64 1 1
  fresh
  run "nothing at all" 66 64 - -
  fresh
  echo "rubbish" > in/x
  run "rubbish alone" 65 64 - -
}

# changing HOW ACCEPTED: changes in/victim, of two lines, by HOW before it is hashed or before it is
# read; the good line next to it counts, and an undisturbed run adds the rest.
changing() {
  local at
  for at in 1 2; do
    fresh
    echo "$good" > in/x
    { another 1; another 2; } > in/victim
    another 3 > other
    PRELOAD=$work/meddle.so MEDDLE_AT=$at MEDDLE_HOW=$1 \
      run "a file is $1 at its opening $at" 0 64 - -
    run "the run after it" 0 64 "$2" 0
  done
}

numbers() {
  local n
  fresh
  for n in {1..10}; do
    echo "${good//_id\":1/_id\":$n}" | sed 's/"value":9.99/"value":1000000000000/; s/USD/IDR/'
  done > in/x
  run "ten charges of 10^12 IDR on a day" 65 64 0 10
  fresh
  for n in {1..18}; do
    echo "${good//_id\":1/_id\":$n}" | sed 's/"value":9.99/"value":1000000000000/; s/USD/IDR/
      s/1772193600,"c/'$((1771000000 + n / 10 * 100000))',"c/'
  done > in/x
  run "eighteen of them in a month" 65 64 0 18
  fresh
  for n in 1e12 -0.0 1e-7 0.00000050000000000000000000001 1000000000000.0000001 \
    123456789012345678901234567890 1e999999999; do
    echo "${good//9.99/$n}" | sed "s/_id\":1,/_id\":\"$n\",/g"
  done > in/x
  sed -i '1s/"value_usd":1e12/"value_usd":1e6/' in/x
  run "amounts of 10^12, -0, 30 digits and 10^999999999" 0 64 4 3
  fresh
  for n in 0 -1 253402300800000 1e18 '"2023-02-29T00:00:00Z"' '"2024-02-29T24:00:00Z"' \
    '"2016-12-31T23:59:60Z"' '"2024-02-29T23:59:59.999+05:30"' 1772193600000 951782400; do
    echo "${good/1772193600,\"c/$n,\"c}" | sed "s/_id\":1,/_id\":\"$(echo "$n" | tr -d '\"')\",/g"
  done > in/x
  run "times before 2008, behind 9999, of no calendar, in ms" 0 64 3 7
}

clang -shared -fPIC -O1 -Wall -Wextra -Werror -o "$work/meddle.so" "$here/meddle.c" -ldl
values
archives
folders
changing deleted 1
changing shortened 2
changing replaced 2
changing lengthened 3
numbers
if [ "$points" -ge 20 ]; then bombs; fi
echo "hostile: $held of $tried held"
[ "$held" -eq "$tried" ]
