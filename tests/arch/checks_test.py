#!/usr/bin/env python3
"""The arch checks see what they are for: each is shown a bad tree and a good one."""
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).parent
GOOD_HEADER = "// What it is.\n#pragma once\n\nint answer();\n"


class ChecksTest(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        for folder in ("common/core", "common/wire", "common/swarm", "peer", "seeder", "tracker", "tests/unit/core", "docs"):
            (self.tree / folder).mkdir(parents=True)
        self.write("common/core/answer.hpp", GOOD_HEADER)
        self.write("common/wire/beat.hpp", "#pragma once\n#include \"common/core/answer.hpp\"\n#include <msgpack.hpp>\n")

    def write(self, path, text):
        (self.tree / path).write_text(text)

    def run_check(self, name, *extra):
        done = subprocess.run([sys.executable, HERE / f"check_{name}.py", self.tree, *extra], capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def refuses(self, name, path, text, expected):
        self.write(path, text)
        code, output = self.run_check(name)
        self.assertEqual(code, 1, output)
        self.assertIn(path, output)
        self.assertIn(expected, output)

    def test_a_good_tree_passes(self):
        for name in ("includes", "smells"):
            self.assertEqual(self.run_check(name)[0], 0, self.run_check(name)[1])

    def test_includes_sees_a_program_that_includes_another(self):
        self.refuses("includes", "peer/fetch.cpp", '#include "seeder/serve.hpp"\n', "peer/ may not include")

    def test_includes_sees_common_that_includes_a_program(self):
        self.refuses("includes", "common/core/a.cpp", '#include "tracker/roster.hpp"\n', "common/ may not include")

    def test_includes_sees_a_folder_of_common_that_goes_up(self):
        self.refuses("includes", "common/core/a.cpp", '#include "common/wire/beat.hpp"\n', "common/core may not include")

    def test_includes_sees_a_third_party_header_outside_its_folder(self):
        self.refuses("includes", "peer/a.cpp", "#include <libtorrent/session.hpp>\n", "belongs behind common/swarm/")
        self.refuses("includes", "tests/unit/core/a_test.cpp", "#include <msgpack.hpp>\n", "belongs behind common/wire/")

    def test_includes_sees_a_path_that_is_not_from_the_root(self):
        self.refuses("includes", "common/core/a.cpp", '#include "answer.hpp"\n', "not named from the root")

    def test_includes_sees_a_folder_without_a_rule(self):
        (self.tree / "common/shed").mkdir()
        self.assertIn("common/shed", self.run_check("includes")[1])

    def test_includes_sees_a_cycle_in_its_own_table(self):
        sys.path.insert(0, str(HERE))
        import check_includes

        self.assertEqual(check_includes.find_cycle({"a": {"b"}, "b": {"c"}, "c": {"a"}}), ["a", "b", "c", "a"])
        self.assertIsNone(check_includes.find_cycle({"a": {"b", "c"}, "b": {"c"}, "c": set()}))

    def test_smells_sees_each_habit(self):
        cases = {
            "peer/a.cpp": ("} catch (...) {\n", "catch-all"),
            "peer/b.cpp": ("thread.detach();\n", "detached"),
            "peer/c.cpp": ("int x; // TO" "DO: later\n", "unfinished"),
            "peer/d.cpp": ("auto f = [=] {};\n", "capture"),
            "peer/string_utils.cpp": ("int x;\n", "name the idea"),
            "peer/e.hpp": ("class FetchManager;\n", "vague name"),
            "peer/f.hpp": ("int x;\n", "#pragma once is missing"),
            "tests/unit/core/a_test.cpp": ("std::this_thread::sleep_for(1s);\n", "not for time"),
            "tests/unit/core/a.py": ("import time\ntime.sleep(1)\n", "not for time"),
            "docs/a.md": ("See iss" "ue 7.\n", "names an issue"),
            "docs/b.md": ("It lies in /ho" "me/me/x.\n", "path of one machine"),
        }
        for path, (text, expected) in cases.items():
            with self.subTest(path):
                self.refuses("smells", path, text, expected)

    def test_smells_counts_lines(self):
        self.refuses("smells", "peer/long.hpp", "#pragma once\n" + "int x;\n" * 250, "split above 250")
        self.refuses("smells", "peer/long.cpp", "int x;\n" * 501, "split above 500")
        self.refuses("smells", "peer/main.cpp", "int x;\n" * 121, "split above 120")

    def test_smells_counts_the_lines_of_a_function(self):
        body = "    int x;\n"
        self.write("peer/fits.cpp", "int f()\n{\n" + body * 60 + "}\n")
        self.assertEqual(self.run_check("smells")[0], 0)
        self.refuses("smells", "peer/large.cpp", "int f()\n{\n" + body * 61 + "}\n", "a function of 61 lines")

    @unittest.skipUnless(shutil.which("clang-format-14"), "clang-format-14 is not installed")
    def test_format_sees_a_wrong_indent(self):
        shutil.copy(HERE.parents[1] / ".clang-format", self.tree)
        self.assertEqual(self.run_check("format")[0], 0)
        self.refuses("format", "peer/a.cpp", "int f()\n{\n  return 1;\n}\n", "clang-format-violations")

    def test_headers_sees_one_that_no_library_lists(self):
        build = self.tree / "build"
        (build / "x/a_verify_interface_header_sets/common/wire").mkdir(parents=True)
        (build / "x/a_verify_interface_header_sets/common/wire/beat.hpp.cxx").touch()
        code, output = self.run_check("headers", str(build), "true")
        self.assertEqual(code, 1)
        self.assertIn("common/core/answer.hpp: in no", output)
        self.assertNotIn("beat.hpp", output)

    def test_headers_sees_one_that_does_not_compile(self):
        build = self.tree / "build"
        for header in ("core/answer", "wire/beat"):
            source = build / f"x/a_verify_interface_header_sets/common/{header}.hpp.cxx"
            source.parent.mkdir(parents=True)
            source.touch()
        self.assertEqual(self.run_check("headers", str(build), "true")[0], 0)
        self.assertEqual(self.run_check("headers", str(build), "false")[0], 1)


if __name__ == "__main__":
    unittest.main()
