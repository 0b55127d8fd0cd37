#!/bin/sh
# scripts/deb.sh VERSION STAGED DIST - makes a Debian package of what `make install` has put below
# STAGED/usr, with the kernel for Jupyter. What it depends on dpkg-shlibdeps finds out. With
# SOURCE_DATE_EPOCH in the environment no file in it is newer than that.
set -eu
umask 022

version=$1 staged=$(cd "$2" && pwd) dist=$3
here=$(cd "$(dirname "$0")/.." && pwd)
architecture=$(dpkg --print-architecture)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

python=$staged/usr/lib/python3/dist-packages/streamlab_kernel
mkdir -p "$python" "$staged/usr/share/jupyter/kernels/streamlab" "$staged/DEBIAN" "$work/debian" "$dist"
cp "$here"/bindings/python/streamlab_kernel/*.py "$python"
cp "$here/bindings/python/streamlab_kernel/kernel.json" "$staged/usr/share/jupyter/kernels/streamlab"
mv "$staged/usr/share/doc/streamlab/LICENSE" "$staged/usr/share/doc/streamlab/copyright"
gzip -9nf "$staged"/usr/share/man/man*/*.[13]

# dpkg-shlibdeps wants a source package around it.
printf 'Source: streamlab\n\nPackage: streamlab\nArchitecture: any\n' >"$work/debian/control"
set --
for file in "$staged/usr/bin/streamlab" $(find "$staged/usr/lib" -name '*.so'); do
    set -- "$@" "-e$file"
done
depends=$(cd "$work" && dpkg-shlibdeps --ignore-missing-info -O "$@" | sed -n 's/^shlibs:Depends=//p')
[ -n "$depends" ] || { echo 'make deb: dpkg-shlibdeps found nothing that the program needs' >&2; exit 1; }

cat >"$staged/DEBIAN/control" <<END
Package: streamlab
Version: $version
Architecture: $architecture
Maintainer: streamlab <streamlab@localhost>
Depends: $depends
Recommends: libopenblas0, libsqlite3-0
Suggests: python3-ipykernel, python3-numpy
Section: science
Priority: optional
Installed-Size: $(find "$staged/usr" -type f -printf '%s\n' | awk '{ kib += int(($1 + 1023) / 1024) } END { print kib }')
Description: laboratory for GPU streams, scriptable in Lua
 Experiments with streams, events, copies and kernels are Lua scripts, which run
 on NVIDIA GPUs and on a simulated GPU, and show what overlapped and what not.
END
package=$dist/streamlab_${version}_$architecture.deb
# With more threads the bytes depend on their number.
DPKG_DEB_THREADS_MAX=1 dpkg-deb --root-owner-group -Zxz --build "$staged" "$package" >/dev/null
echo "$package"
