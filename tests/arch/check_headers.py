#!/usr/bin/env python3
"""Fails when a header of common/ or of a program does not compile alone, or is in no library's list.

usage: check_headers.py ROOT BUILD_DIR CMAKE
"""
import pathlib
import subprocess
import sys

FOLDERS = ("common", "peer", "seeder", "tracker")


def verified(build):
    """Headers that the build compiles alone: CMake writes one source for each, `<folder>_verify_interface_header_sets/<path>.cxx`."""
    found = set()
    for source in build.rglob("*_verify_interface_header_sets/**/*.cxx"):
        parts = source.relative_to(build).as_posix().split("_verify_interface_header_sets/", 1)
        found.add(parts[1].removesuffix(".cxx").removesuffix(".hpp"))
    return found


def unlisted(root, build):
    known = verified(build)
    for folder in FOLDERS:
        for header in sorted((root / folder).rglob("*.hpp")):
            rel = header.relative_to(root).as_posix()
            if rel.removesuffix(".hpp") not in known:
                yield f"{rel}: in no shoal_library(HEADERS ..)"


def check(root, build, cmake):
    bad = list(unlisted(root, build))
    compiled = subprocess.run([cmake, "--build", str(build), "--target", "all_verify_interface_header_sets"], capture_output=True, text=True)
    if compiled.returncode:
        bad.append(compiled.stdout + compiled.stderr)
    return bad


if __name__ == "__main__":
    troubles = check(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), sys.argv[3])
    print("\n".join(troubles) or "each header compiles alone")
    sys.exit(bool(troubles))
