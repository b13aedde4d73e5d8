#!/usr/bin/env bash
# guide.sh BINARY DEB: runs the commands of docs/guide.md as a new user would, in one session as
# root on a fresh Debian 12 with the package and some webhooks and snapshots.
set -euo pipefail
binary=$(realpath "$1") package=$(realpath "$2")
cd "$(dirname "$0")/../.."
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
packaging/deb/root.sh "$root"
cp "$package" "$root/root/"

# A feed up to yesterday in which nothing is lost; simulated worlds begin in January 2025.
months=$((($(date -u +%Y) - 2025) * 12 + $(date -u +%-m)))
"$binary" simulate --out "$work/world" --subscribers 150 --months $months \
  --lost 0 --delayed 0 --reordered 0 > /dev/null
mkdir "$root/srv/webhooks"
for archive in "$work"/world/archives/*; do
  if [[ $(basename "$archive") < $(date -u +%F) ]]; then cp "$archive" "$root/srv/webhooks"; fi
done
cp -r "$work/world/snapshots/sdk" "$root/srv/entitlements"

awk '/^ *```sh$/ {on = 1; next} /^ *```$/ {on = 0} on {sub(/^ */, ""); print}' docs/guide.md \
  > "$root/root/commands"
count=$(wc -l < "$root/root/commands")
[ "$count" = 10 ] || { echo "docs/guide.md has $count commands, not ten" >&2; exit 1; }
# So few users buy little: apps are silent for weeks, which a new user would configure.
sed -i '/config init/a echo "freshness_max: 60d" >> $SUBLEDGER_CONFIG' "$root/root/commands"

# Offline, systemctl enables units but does not start them.
unshare --mount --mount-proc="$root/proc" \
  chroot "$root" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive SYSTEMD_OFFLINE=1 bash -exc 'cd; . ./commands' ||
  { echo "the last command above failed" >&2; exit 1; }
test -L "$root/etc/systemd/system/timers.target.wants/subledger.timer"
test -s "$root/var/lib/subledger/reports/index.html"
