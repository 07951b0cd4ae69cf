#!/usr/bin/env python3
"""Holds C++, the document as written in Python, and libtorrent to the same revisions, and all of them to the vectors in tests/golden.

usage: format_test.py python TOOL | libtorrent | write-golden
TOOL is the built revision_of_tree. Exit code 77, a skip, where python3-libtorrent is not installed. write-golden is for a new schema alone.
"""
import pathlib
import subprocess
import sys
import tempfile

import trees
from compute_revision import Revision, check_with_libtorrent, read_tree

DOCUMENT = pathlib.Path(__file__).resolve().parents[2] / "docs" / "format.md"
GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden"


def outputs(revision):
    """What a golden directory holds, by file name."""
    found = {"manifest.json": revision.manifest, "layers": revision.layers, "revision": b"sha256:" + revision.revision.encode() + b"\n"}
    if revision.swarm:
        found |= {"torrent": revision.torrent(), "info_hash": revision.info_hash().encode() + b"\n"}
    return found


def read_files(directory):
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


def differences(who, expected, found):
    for name in sorted(expected.keys() | found.keys()):
        if expected.get(name) != found.get(name):
            yield f"{who}: {name}: expected {str(expected.get(name))[:300]}, found {str(found.get(name))[:300]}"


def of_golden(case, revision):
    yield from differences(f"{case}: Python against tests/golden", read_files(GOLDEN / case), outputs(revision))


def of_document(case, revision):
    """What the document says of its example."""
    said = DOCUMENT.read_text()
    facts = [revision.manifest.decode(), revision.summary()["revision"], revision.info_hash(), revision.summary()["layers_sha256"],
             f"The manifest, {len(revision.manifest)} bytes", *(digest.hex() for _, layer, _ in revision.swarm.values() for digest in layer)]
    yield from (f"docs/format.md lacks: {fact}" for fact in facts if case == "example" and fact not in said)


def of_cpp(case, revision, tool):
    """The tree goes through the filesystem, so both read it for themselves."""
    make_tree, options = trees.CASES[case]
    tree = make_tree()
    with tempfile.TemporaryDirectory() as root, tempfile.TemporaryDirectory() as out:
        trees.write(tree, root)
        if read_tree(root) != dict(sorted(tree.items())):
            yield f"{case}: the tree did not survive the filesystem"
        arguments = [options["model"], str(options.get("piece_size", 0)), options.get("data_version", ""), options.get("transform_version", "")]
        subprocess.run([tool, root, out, *arguments, *("=".join(pair) for pair in options.get("annotations", ()))], check=True)
        yield from differences(f"{case}: Python against C++", outputs(revision), read_files(pathlib.Path(out)))


def of_libtorrent(case, revision):
    for trouble in check_with_libtorrent(revision) if revision.swarm else []:
        yield f"{case}: libtorrent: {trouble[:2000]}"


def write_golden(case, revision):
    (GOLDEN / case).mkdir(parents=True, exist_ok=True)
    for name, data in outputs(revision).items():
        (GOLDEN / case / name).write_bytes(data)
    return []


def main(mode, *tool):
    if mode == "libtorrent":
        try:
            import libtorrent  # noqa: F401
        except ImportError:
            print("SKIPPED: python3-libtorrent is not installed; scripts/test installs it")
            return 77
    compare = {"python": of_cpp, "libtorrent": of_libtorrent, "write-golden": write_golden}[mode]
    troubles = []
    for case, (tree, options) in trees.CASES.items():
        revision = Revision(dict(sorted(tree().items())), **options)
        troubles += compare(case, revision, *tool)
        troubles += of_golden(case, revision)
        troubles += of_document(case, revision)
    print("\n".join(troubles) or f"{len(trees.CASES)} trees agree")
    return bool(troubles)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
