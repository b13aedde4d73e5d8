#!/usr/bin/env bash
# build.sh BINARY FOLDER: builds the program's Debian package in FOLDER, and prints its path.
#
# The same program gives the same bytes, because all times are those of the last commit.
set -euo pipefail
binary=$(realpath "$1")
mkdir -p "$2"
folder=$(realpath "$2")
cd "$(dirname "$0")/../.."
export SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
version=$("$binary" --version)-1
machine=$(dpkg --print-architecture)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
root=$scratch/root

packaging/install.sh "$binary" "$root" /usr /usr/share/zsh/vendor-completions
for script in postinst prerm postrm; do
  install -D -m 755 "packaging/deb/$script" "$root/DEBIAN/$script"
done
install -D -m 644 packaging/deb/lintian-overrides "$root/usr/share/lintian/overrides/subledger"
install -D -m 644 packaging/deb/copyright "$root/usr/share/doc/subledger/copyright"
{
  printf 'subledger (%s) stable; urgency=medium\n\n  * See CHANGELOG.md.\n\n' "$version"
  printf ' -- %s  %s\n' "$(sed -n 's/^Maintainer: //p' packaging/deb/control)" \
    "$(date -u -R -d "@$SOURCE_DATE_EPOCH")"
} | gzip -9n > "$root/usr/share/doc/subledger/changelog.Debian.gz"
gzip -9n < CHANGELOG.md > "$root/usr/share/doc/subledger/changelog.gz"

# The libraries that the program is linked with, in their current versions.
mkdir -p "$scratch/debian"
printf 'Source: subledger\n\nPackage: subledger\nArchitecture: any\n' > "$scratch/debian/control"
libraries=$(cd "$scratch" && dpkg-shlibdeps -O "root/usr/bin/subledger" 2>/dev/null |
  sed -n 's/^shlibs:Depends=//p')
size=$(du -sk --exclude=DEBIAN "$root" | cut -f1)
sed -e "s/@VERSION@/$version/; s/@ARCHITECTURE@/$machine/; s/@SIZE@/$size/" \
  -e "s/@LIBRARIES@/$libraries/" packaging/deb/control > "$root/DEBIAN/control"
(cd "$root" && find usr -type f -print0 | sort -z | xargs -0 md5sum > DEBIAN/md5sums)
chmod -R u=rwX,go=rX "$root"
file=$folder/subledger_${version}_$machine.deb
dpkg-deb --root-owner-group -Zxz -z2 --build "$root" "$file" > /dev/null
echo "$file"
