#!/usr/bin/env bash
# check.sh FOLDER PREFIX: what `make install` put below FOLDER is whole and as documented.
set -euo pipefail
root=$1$2
fail() { echo "$*" >&2; exit 1; }

"$root/bin/subledger" --version --verbose
size=$(stat -c %s "$root/bin/subledger")
[ "$size" -le 75000000 ] || fail "the program has $size bytes, more than 75 MB"
for page in man1/subledger.1 man5/subledger.yaml.5; do
  words=$(MANROFFSEQ='' MANWIDTH=100 man --warnings -l "$root/share/man/$page.gz" 2>&1 >/dev/null)
  [ -z "$words" ] || fail "$page: $words"
done
for name in run config doctor; do
  zgrep -q "^subledger $name$" "$root/share/man/man1/subledger.1.gz" ||
    fail "subledger.1 lacks $name"
done
bash -n "$root/share/bash-completion/completions/subledger"
for shell in zsh fish; do
  file=$(find "$root/share/$shell" -type f -name '*subledger*')
  [ -s "$file" ] || fail "no completions for $shell"
  if command -v $shell > /dev/null; then $shell -n "$file"; fi
done
"$root/bin/subledger" config check --config "$root/share/doc/subledger/examples/subledger.yaml"

units=$root/lib/systemd/system
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$units"/subledger.* "$scratch"
# The program is where it will be only once the folder is in its place.
sed -i "s|^ExecStart=$2|ExecStart=$root|" "$scratch/subledger.service"
words=$(systemd-analyze verify --man=no "$scratch"/subledger.{service,timer} 2>&1 | grep subledger || true)
[ -z "$words" ] || fail "systemd-analyze verify: $words"
systemd-analyze security --offline=true --threshold=20 "$scratch/subledger.service" |
  grep 'Overall exposure'
