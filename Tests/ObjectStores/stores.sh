#!/usr/bin/env bash
# Reads sample-data from object stores on this machine, by the recipes of docs/object-stores.md:
# stores.sh PROGRAM s3 [gs] [az]. Expects the same set as from the folder, a second run that reads
# nothing, and a read that breaks off to be left out and read by the next run; with SPARK_HOME also
# the same set from Spark.
set -euo pipefail
binary=$(realpath "$1")
shift
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
servers=()
trap '[ ${#servers[@]} = 0 ] || kill "${servers[@]}"; rm -rf "$work"' EXIT
fail() { echo "stores: $*" >&2; exit 1; }
port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}
# within COMMAND...: waits at most 20 s until COMMAND succeeds.
wait_for() {
  for _ in $(seq 100); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done
  fail "no answer to $*"
}
unset AWS_CA_BUNDLE
export AWS_ACCESS_KEY_ID=test AWS_SECRET_ACCESS_KEY=test AWS_DEFAULT_REGION=us-east-1

start_s3() {
  local port; port=$(port)
  export AWS_ENDPOINT_URL=http://127.0.0.1:$port
  moto_server -H 127.0.0.1 -p "$port" >"$work/s3.log" 2>&1 &
  servers+=($!)
  wait_for aws s3api list-buckets
  aws s3 mb s3://hooks >/dev/null
  put() { aws s3 cp --quiet "$1" "s3://hooks/$2"; }
}

start_gs() {
  local port; port=$(port)
  export RCLONE_CONFIG_GCS_TYPE="google cloud storage" RCLONE_CONFIG_GCS_ANONYMOUS=true
  export RCLONE_CONFIG_GCS_ENDPOINT=http://127.0.0.1:$port/storage/v1/
  gcp-storage-emulator start --host=127.0.0.1 --port="$port" --in-memory >"$work/gs.log" 2>&1 &
  servers+=($!)
  local server=http://127.0.0.1:$port
  wait_for curl -sf "$server/storage/v1/b?project=p"
  curl -sf -H 'Content-Type: application/json' -d '{"name":"hooks"}' \
    "$server/storage/v1/b?project=p" >/dev/null
  uploads=$server/upload/storage/v1/b/hooks/o
  put() {
    curl -sf -H 'Content-Type: application/octet-stream' --data-binary "@$1" \
      "$uploads?uploadType=media&name=${2//\//%2F}" >/dev/null
  }
}

start_az() {
  local port; port=$(port)
  local key=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==
  azurite-blob --silent --skipApiVersionCheck --inMemoryPersistence --blobHost 127.0.0.1 \
    --blobPort "$port" >"$work/az.log" 2>&1 &
  servers+=($!)
  # The default account and key of Azure emulators.
  export RCLONE_CONFIG_AZURE_TYPE=azureblob RCLONE_CONFIG_AZURE_ACCOUNT=devstoreaccount1
  export RCLONE_CONFIG_AZURE_KEY=$key
  export RCLONE_CONFIG_AZURE_ENDPOINT=http://127.0.0.1:$port/devstoreaccount1
  wait_for rclone mkdir azure:hooks
  put() { rclone copyto "$1" "azure:hooks/$2"; }
}

run() {
  "$binary" run --config "$work/config" --prices sample-data/prices.csv --as-of 2026-03-01 \
    --ledger "$work/$1.sqlite" --out "$work/$1" "${@:2}" 2>"$work/messages"
}

# The commands of the guide, with `read` replaced where a second argument is given.
configure() {
  {
    echo "readers:"
    sed -n "/^  \"$1:/,/^    read/p" docs/object-stores.md | if [ $# = 1 ]; then cat; else
      sed "s|^    read: .*|    read: $2|"; fi
    cat sample-data/subledger.yaml
  } >"$work/config"
  grep -q '^    read' "$work/config" || fail "docs/object-stores.md has no recipe for $1"
}

# A long archive whose transfer ends too early.
{ head -c 20000000 /dev/zero | tr '\0' ' '; echo; cat sample-data/archives/*.jsonl; } \
  >"$work/long.jsonl"
printf '#!/bin/sh\nhead -c 9000000 /dev/zero | tr "\\0" " "\nexit 1\n' >"$work/cut"
chmod +x "$work/cut"

for store in "$@"; do
  start_"$store"
  for file in sample-data/archives/* sample-data/snapshots/*/*; do
    name=${file#sample-data/}
    name=${name/#archives/webhooks}
    put "$file" "${name/#snapshots/entitlements}"
  done
  away=(--archives "$store://hooks/webhooks" --snapshots "$store://hooks/entitlements")
  configure "$store"
  run "$store" "${away[@]}" || fail "$store: $(cat "$work/messages")"
  run here --archives sample-data/archives --snapshots sample-data/snapshots --adopt
  diff -r "$work/$store" "$work/here" || fail "$store: the set is another one than of the folder"

  if [ -n "${SPARK_HOME:-}" ]; then
    run "$store-spark" "${away[@]}" --engine spark || fail "$store: $(cat "$work/messages")"
    diff -r "$work/$store-spark" "$work/here" || fail "$store: Spark publishes another set"
    echo "stores: $store gives it on Spark"
  fi

  configure "$store" "false {path}"
  run "$store" "${away[@]}" || fail "$store: a second run reads again: $(cat "$work/messages")"

  put "$work/long.jsonl" webhooks/long.jsonl
  configure "$store" "$work/cut {path}"
  code=0
  run "$store" "${away[@]}" || code=$?
  [ $code = 1 ] || fail "$store: a broken transfer ended with $code: $(cat "$work/messages")"
  grep -q "cannot read $store://hooks/webhooks/long.jsonl" "$work/messages" ||
    fail "$store: $(cat "$work/messages")"
  ! grep -q long.jsonl "$work/$store/inputs.csv" || fail "$store: half an archive counts"

  configure "$store"
  run "$store" "${away[@]}" || fail "$store: $(cat "$work/messages")"
  grep -q long.jsonl "$work/$store/inputs.csv" || fail "$store: the archive is not picked up"
  "$binary" verify --config "$work/config" --ledger "$work/$store.sqlite" --out "$work/$store" \
    >"$work/verified" || fail "$store: $(cat "$work/verified")"
  echo "stores: $store gives the set of the folder; nothing is read twice or half"
done
