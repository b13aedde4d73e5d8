#!/usr/bin/env bash
# install.sh BINARY DESTDIR PREFIX ZSH: installs the program and its files below DESTDIR/PREFIX.
set -euo pipefail
binary=$(realpath "$1") destination=$2 prefix=$3 zsh=$4
cd "$(dirname "$0")/.."
share=$destination$prefix/share
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

put() { install -D -m 644 "$1" "$2"; }

install -D -m 755 "$binary" "$destination$prefix/bin/subledger"
strip --strip-all "$destination$prefix/bin/subledger"
# The program must not load libraries from its own folder.
chrpath -d "$destination$prefix/bin/subledger" > /dev/null
for page in subledger.1 subledger.yaml.5; do
  packaging/man.py "$binary" "$page" | gzip -9n > "$scratch/$page.gz"
  put "$scratch/$page.gz" "$share/man/man${page##*.}/$page.gz"
done
for shell in bash zsh fish; do
  "$binary" --generate-completion-script $shell > "$scratch/$shell"
done
put "$scratch/bash" "$share/bash-completion/completions/subledger"
put "$scratch/zsh" "$destination$zsh/_subledger"
put "$scratch/fish" "$share/fish/vendor_completions.d/subledger.fish"
put docs/subledger.schema.json "$share/subledger/subledger.schema.json"
for page in README.md docs/*.md; do put "$page" "$share/doc/subledger/$page"; done
put subledger.example.yaml "$share/doc/subledger/examples/subledger.yaml"
put packaging/crontab "$share/doc/subledger/examples/crontab"
put packaging/prometheus/alerts.yml "$share/doc/subledger/examples/alerts.yml"
sed "s|@PREFIX@|$prefix|" packaging/systemd/subledger.service > "$scratch/service"
put "$scratch/service" "$destination$prefix/lib/systemd/system/subledger.service"
put packaging/systemd/subledger.timer "$destination$prefix/lib/systemd/system/subledger.timer"
