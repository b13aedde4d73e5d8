#!/usr/bin/env bash
# root.sh FOLDER: creates a fresh Debian 12 in FOLDER, with what a package may assume.
#
# debootstrap creates it once; .build/debian.tar keeps it.
set -euo pipefail
folder=$(realpath -m "$1")
cd "$(dirname "$0")/../.."
kept=.build/debian.tar
exec 9> $kept.lock
flock 9
if [ ! -e $kept ]; then
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  debootstrap --variant=minbase --include=adduser,systemd,tzdata bookworm "$scratch/root" \
    > "$scratch/log" 2>&1 || { tail -5 "$scratch/log" >&2; exit 1; }
  tar -C "$scratch/root" -cf $kept.part .
  mv $kept.part $kept
fi
mkdir -p "$folder"
tar -C "$folder" -xf $kept
cp /etc/resolv.conf "$folder/etc/"
chroot "$folder" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin apt-get -qq update
