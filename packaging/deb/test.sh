#!/usr/bin/env bash
# test.sh DEB: installs the package in a fresh Debian 12, runs the sample as the system user, purges
# the package, and checks that nothing is left.
set -euo pipefail
deb=$(realpath "$1")
cd "$(dirname "$0")/../.."
root=$(mktemp -d)/debian
trap 'umount "$root/proc" 2>/dev/null || true; rm -rf "$(dirname "$root")"' EXIT
packaging/deb/root.sh "$root"
mount -t proc proc "$root/proc"
within() { chroot "$root" /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 \
  DEBIAN_FRONTEND=noninteractive "$@"; }
as_user() { within setpriv --reuid=subledger --regid=subledger --clear-groups \
  env -C /var/lib/subledger "$@"; }
fail() { echo "$*" >&2; exit 1; }
listing() { find "$root" -xdev \( -path "$root/proc" -o -path "$root/run" -o -path "$root/tmp" -o -path "$root/var/cache" \
  -o -path "$root/var/lib/apt" -o -path "$root/var/lib/dpkg" -o -path "$root/var/log" \) -prune \
  -o -printf '/%P\n' | sort; }

# The package's dependencies stay when it is removed.
cp "$deb" "$root/tmp/subledger.deb"
within apt-get -qq -y install --no-install-recommends \
  $(dpkg-deb -f "$deb" Depends | sed 's/([^)]*)//g; s/|[^,]*//g; s/,/ /g') > "$root.log" 2>&1 ||
  { tail -5 "$root.log" >&2; exit 1; }
before=$(listing)
within dpkg -i /tmp/subledger.deb > /dev/null 2>&1 || fail "dpkg -i fails"
[ "$(within stat -c '%U:%G %a' /var/lib/subledger)" = "subledger:subledger 750" ] ||
  fail "/var/lib/subledger is not the user's"
[ "$(within stat -c '%U:%G %a' /etc/subledger)" = "root:subledger 750" ] ||
  fail "/etc/subledger is not closed"
within subledger --version --verbose

cp -r sample-data "$root/srv/sample-data"
within subledger config init --archives /srv/sample-data/archives \
  --snapshots /srv/sample-data/snapshots --config /etc/subledger/subledger.yaml > /dev/null
as_user subledger doctor --config /etc/subledger/subledger.yaml | grep -v '^ok' || true
status=0
as_user subledger run --config /etc/subledger/subledger.yaml --prices /srv/sample-data/prices.csv \
  --as-of 2026-03-01 --quiet || status=$?
[ $status -le 1 ] || fail "the run ends with $status"
as_user sh -c 'cd reports && sha256sum --quiet -c SHA256SUMS' || fail "the set is not whole"
[ "$(within stat -c %U /var/lib/subledger/subledger.sqlite)" = subledger ] ||
  fail "the ledger is not the user's"

within dpkg -i /tmp/subledger.deb > /dev/null 2>&1 || fail "an upgrade fails"
[ -f "$root/var/lib/subledger/subledger.sqlite" ] || fail "an upgrade removes the ledger"
within dpkg --remove subledger > /dev/null 2>&1
[ -f "$root/var/lib/subledger/subledger.sqlite" ] || fail "removing removes the ledger"
within dpkg --purge subledger > /dev/null 2>&1 || fail "dpkg --purge fails"
if within id subledger > /dev/null 2>&1; then fail "the user is left"; fi
rm -rf "$root/srv/sample-data"
left=$(comm -13 <(echo "$before") <(listing) | grep -vE '^/etc/(passwd|group|shadow|gshadow)-$' || true)
[ -z "$left" ] || fail "left behind: $left"
echo "installed, run as the system user, upgraded and purged: nothing is left"
