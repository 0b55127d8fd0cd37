"""rock.py VERSION ARCHIVE DIST: makes streamlab-VERSION-1.src.rock, what `luarocks install` compiles.

It is a .zip of the archive of the source and of a rockspec that names it. The same archive gives the
same bytes. Run where streamlab-scm-1.rockspec is, the rockspec of a clone.
"""

import pathlib
import re
import sys
import zipfile


def rockspec(version, archive):
    """The rockspec of a clone, with this version and this source."""
    text = pathlib.Path("streamlab-scm-1.rockspec").read_text(encoding="utf-8")
    text, versions = re.subn(r'\nversion = "scm-1"\n', f'\nversion = "{version}-1"\n', text)
    source = f'source = {{\n    url = "https://example.org/{archive.name}",\n}}\n'
    text, sources = re.subn(r"-- `make release`[^\n]*\nsource = \{\n.*?\n\}\n", source, text, flags=re.DOTALL)
    if (versions, sources) != (1, 1):
        sys.exit("rock.py: streamlab-scm-1.rockspec has another form than expected")
    return text.encode()


def main(version, archive, dist):
    archive, name = pathlib.Path(archive), f"streamlab-{version}-1"
    path = pathlib.Path(dist) / f"{name}.src.rock"
    with zipfile.ZipFile(path, "w") as rock:
        for inside, content in [(f"{name}.rockspec", rockspec(version, archive)),
                                (archive.name, archive.read_bytes())]:
            entry = zipfile.ZipInfo(inside)         # of 1980, as zipfile makes them
            entry.external_attr = 0o100644 << 16
            rock.writestr(entry, content)
    print(path)


main(*sys.argv[1:])
