#!/usr/bin/env python3
"""Fails when clang-format-14 would change a file. Exit code 77, a skip, where it is not installed."""
import pathlib
import shutil
import subprocess
import sys

FOLDERS = ("common", "peer", "seeder", "tracker", "tests")


def check(root, program):
    files = [path for folder in FOLDERS for path in sorted((root / folder).rglob("*.[ch]pp"))]
    if not files:
        return "no C++ files found"
    found = subprocess.run([program, "--dry-run", "-Werror", *map(str, files)], capture_output=True, text=True)
    return (found.stderr or f"{program} failed") if found.returncode else ""


if __name__ == "__main__":
    clang_format = shutil.which("clang-format-14")
    if not clang_format:
        print("SKIPPED: clang-format-14 is not installed; scripts/test installs it")
        sys.exit(77)
    trouble = check(pathlib.Path(sys.argv[1]), clang_format)
    print(trouble or "formatted")
    sys.exit(bool(trouble))
