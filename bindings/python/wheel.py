"""wheel.py VERSION STAGED DIST: makes a wheel of what `make install` has put below STAGED.

What is in STAGED/bin goes where Python has its programs, the rest below the prefix of the
environment, so that the program finds its files as after `make install`. No Python code is
needed to run it. The kernel for Jupyter lies beside this file.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import sys
import zipfile

HERE = pathlib.Path(__file__).parent


def newest_glibc(files):
    """The newest version of glibc that a symbol of these files needs: (2, 34)."""
    versions = [(2, 17)]
    for file in files:
        listed = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=True)
        found = re.findall(r"GLIBC_(\d+)\.(\d+)", listed.stdout)
        versions += [(int(major), int(minor)) for major, minor in found]
    return max(versions)


def needed_libraries(files):
    """The shared libraries that these files are linked with, glibc's own left out."""
    own = re.compile(r"(libc|libm|libdl|libpthread|librt|ld-linux[\w-]*)\.so\.\d+$")
    names = set()
    for file in files:
        listed = subprocess.run(["objdump", "-p", file], capture_output=True, text=True, check=True)
        names |= set(re.findall(r"NEEDED +(\S+)", listed.stdout))
    return sorted(name for name in names if not own.match(name))


def metadata(version):
    return f"""Metadata-Version: 2.1
Name: streamlab
Version: {version}
Summary: A Lua-scriptable laboratory for GPU streams, on real GPUs and on a simulated one
License: MIT
License-File: LICENSE
Requires-Python: >=3.8
Provides-Extra: notebook
Requires-Dist: ipykernel; extra == "notebook"
"""


def contents(version, staged):
    """(name in the wheel, bytes, mode) of each file."""
    data, info = f"streamlab-{version}.data", f"streamlab-{version}.dist-info"
    for path in sorted(p for p in staged.rglob("*") if p.is_file() and not p.is_symlink()):
        inside = path.relative_to(staged)
        kind = pathlib.PurePath("scripts", *inside.parts[1:]) if inside.parts[0] == "bin" \
            else pathlib.PurePath("data", inside)
        yield f"{data}/{kind}", path.read_bytes(), path.stat().st_mode & 0o777
    spec = HERE / "streamlab_kernel" / "kernel.json"
    yield f"{data}/data/share/jupyter/kernels/streamlab/kernel.json", spec.read_bytes(), 0o644
    for package in ("streamlab", "streamlab_kernel"):
        for path in sorted((HERE / package).glob("*.py")):
            yield f"{package}/{path.name}", path.read_bytes(), 0o644
    yield f"{info}/licenses/LICENSE", (HERE.parents[1] / "LICENSE").read_bytes(), 0o644
    yield f"{info}/METADATA", metadata(version).encode(), 0o644


def write(path, version, tag, files):
    """The same files give the same bytes."""
    info = f"streamlab-{version}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: streamlab\nRoot-Is-Purelib: false\nTag: {tag}\n"
    records = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        def add(name, content, mode):
            entry = zipfile.ZipInfo(name)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, content)

        for name, content, mode in [*files, (f"{info}/WHEEL", wheel.encode(), 0o644)]:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=")
            records.append(f"{name},sha256={digest.decode()},{len(content)}")
            add(name, content, mode)
        records.append(f"{info}/RECORD,,")
        add(f"{info}/RECORD", ("\n".join(records) + "\n").encode(), 0o644)


def main(version, staged, dist):
    staged, dist = pathlib.Path(staged), pathlib.Path(dist)
    programs = [p for p in staged.rglob("*") if p.is_file() and p.read_bytes()[:4] == b"\x7fELF"]
    foreign = needed_libraries(programs)
    if foreign:
        sys.exit(f"make wheel: the program is linked with {', '.join(foreign)}, which a wheel must not"
                 " need: install the static libraries (sh scripts/setup.sh)")
    major, minor = newest_glibc(programs)
    tag = f"py3-none-manylinux_{major}_{minor}_{platform.machine()}"
    os.makedirs(dist, exist_ok=True)
    path = dist / f"streamlab-{version}-{tag}.whl"
    write(path, version, tag, list(contents(version, staged)))
    print(path)


main(*sys.argv[1:])
