#!/usr/bin/env bash
# check.sh FOLDER PREFIX: checks that what `make install` put below FOLDER is whole and as
# documented.
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
share=$root/share
export PATH=$root/bin:$PATH
bash -n "$share/bash-completion/completions/subledger"
zsh -n "$share/zsh/site-functions/_subledger"
fish -n "$share/fish/vendor_completions.d/subledger.fish"
# How each shell completes the beginning of an option.
in_bash() {
  bash --norc -c 'source "$1"; COMP_WORDS=(subledger run --arch) COMP_CWORD=2
    COMP_LINE=${COMP_WORDS[*]} COMP_POINT=${#COMP_LINE}
    _subledger subledger --arch run; echo "${COMPREPLY[@]}"' - \
    "$share/bash-completion/completions/subledger"
}
in_fish() {
  fish --no-config -c 'source $argv; complete -C "subledger run --arch"' \
    "$share/fish/vendor_completions.d/subledger.fish"
}
# It completes only on a terminal.
in_zsh() {
  timeout 30 zsh -f -c "zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell 'fpath=($share/zsh/site-functions \$fpath); autoload -Uz compinit; compinit -u -D
      PS1=read\"\"y'
    zpty -r shell words '*ready*'
    zpty -w -n shell $'subledger run --arch\t'
    zpty -r shell words '*--archives*' && print -r -- \$words"
}
for shell in bash zsh fish; do
  words=$(in_$shell) || fail "$shell completes nothing"
  [[ $words == *--archives* ]] || fail "$shell completes --arch by: $words"
done
"$root/bin/subledger" config check --config "$root/share/doc/subledger/examples/subledger.yaml"

units=$root/lib/systemd/system
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cp "$units"/subledger.* "$scratch"
# The program is at its final path only once the folder is in place.
sed -i "s|^ExecStart=$2|ExecStart=$root|" "$scratch/subledger.service"
words=$(systemd-analyze verify --man=no "$scratch"/subledger.{service,timer} 2>&1 | grep subledger || true)
[ -z "$words" ] || fail "systemd-analyze verify: $words"
systemd-analyze security --offline=true --threshold=20 "$scratch/subledger.service" |
  grep 'Overall exposure'
