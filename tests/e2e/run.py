#!/usr/bin/env python3
"""Runs one end-to-end test, or lists all of them. Exit code 77, which ctest shows as a skip, when it could not run here.

usage: run.py --list | run.py BUILD_DIR MODULE.Class.test
"""
import ast
import os
import pathlib
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent


def tests_in(module):
    """Names of a module's tests, without importing it."""
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.ClassDef):
            for item in node.body:
                if isinstance(item, ast.FunctionDef) and item.name.startswith("test_"):
                    yield f"{module.stem}.{node.name}.{item.name}"


def main(arguments):
    if arguments == ["--list"]:
        for module in sorted(HERE.glob("test_*.py")):
            print("\n".join(tests_in(module)))
        return 0
    os.environ["SHOAL_BUILD"] = arguments[0]
    sys.path.insert(0, str(HERE))
    result = unittest.TextTestRunner(verbosity=2, stream=sys.stdout).run(unittest.defaultTestLoader.loadTestsFromName(arguments[1]))
    if not result.wasSuccessful():
        return 1
    return 77 if result.skipped else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
