"""Flags, help, versions: what is wrong is refused at the start with 2, before anything is touched."""
import unittest

from cluster import PEER, SEEDER, TRACKER, EndToEnd, free_port, make_model, write

GOOD = "sha256:" + "a" * 64
PROGRAMS = {"seeder": SEEDER, "tracker": TRACKER, "peer": PEER}


class Usage(EndToEnd):
    def refused(self, command, *words):
        with self.subTest(" ".join(map(str, command[1:]))):
            done = self.cluster.run(command, deadline=10)
            self.assertEqual(done.code, 2, done.err)
            self.assertTrue(done.last, "says nothing")
            for word in words:
                self.assertIn(word, done.err)
            self.assertFalse(self.cluster.path("dest").exists())

    def fetch(self, *args):
        return [PEER, "fetch", "--dest", self.cluster.path("dest"), "--tracker", "http://127.0.0.1:1", "--listen", "127.0.0.1:0", *args]

    def test_help_and_version(self):
        for program in PROGRAMS.values():
            for args in (["--help"], ["--version"]):
                done = self.cluster.run([program, *args])
                self.assertEqual((done.code, bool(done.out)), (0, True), done)
        for command in ([PEER, "fetch"], [SEEDER, "publish"], [SEEDER, "serve"], [TRACKER, "serve"]):
            help_text = self.cluster.run([*command, "--help"])
            self.assertEqual(help_text.code, 0)
            self.assertIn("xample", help_text.out)

    def test_malformed_digests(self):
        for digest in ("sha256:123", "a" * 64, "md5:" + "a" * 32, "sha256:" + "A" * 64, "sha256:" + "g" * 64, GOOD + "0", ""):
            self.refused(self.fetch("--model", "llama", "--revision", digest), "revision")

    def test_malformed_names(self):
        for name in ("../llama", "a//b", "/a", "a/", ".hidden", "a/../b", "a b", "", "a" * 300, "<img>"):
            self.refused(self.fetch("--model", name, "--revision", GOOD))
        self.refused(self.fetch("--model", "llama", "--tag", ".x"))

    def test_unknown_and_conflicting_flags(self):
        self.refused(self.fetch("--model", "llama", "--revision", GOOD, "--no-such-flag"), "--no-such-flag")
        self.refused(self.fetch("--model", "llama", "--revision", GOOD, "--tag", "prod"))
        self.refused(self.fetch("--model", "llama"))
        self.refused(self.fetch("--revision", GOOD))
        self.refused(self.fetch("--root", self.cluster.path("root"), "--model", "llama", "--revision", GOOD))
        self.refused([PEER, "fetch", f"shoal://llama@{GOOD}"])
        self.refused([PEER, "fetch", "llama", self.cluster.path("dest")])
        self.refused([PEER, "fetch", "shoal://llama@sha256:12", self.cluster.path("dest")])
        self.refused([PEER])
        self.refused([PEER, "dance"])
        source = make_model(self.cluster.path("source"))
        self.refused([SEEDER, "publish", source, "--model", "llama", "--store", self.cluster.store_url, "--in-place", "--copy"])
        self.refused([SEEDER, "publish", source, "--store", self.cluster.store_url])
        self.refused([SEEDER, "publish", source, "--model", "llama", "--store", "ftp://host/x"])
        self.refused([SEEDER, "publish", source, "--model", "llama", "--store", self.cluster.store_url, "--piece-size", "300KiB"])
        self.refused([TRACKER, "serve", "--store", self.cluster.store_url, "--listen", "nonsense"])

    def test_C80_numbers_that_make_no_sense(self):
        for flag in ("--max-bytes", "--download-limit", "--timeout", "--stall-timeout", "--linger", "--progress-interval"):
            for value in ("-1", "", "1e9", "9223372036854775808", "x", "10 parsecs"):
                if not (flag == "--linger" and value == "auto"):
                    self.refused(self.fetch("--model", "llama", "--revision", GOOD, flag, value))

    def test_addresses_and_urls_that_are_none_are_refused_by_flag(self):
        seeder, tracker = [SEEDER, "serve", "--store", self.cluster.store_url], [TRACKER, "serve", "--store", self.cluster.store_url]
        fetch = [PEER, "fetch", "--dest", self.cluster.path("dest"), "--model", "llama", "--revision", GOOD]
        remove = [SEEDER, "remove", "llama", GOOD, "--store", self.cluster.store_url]
        for command in (seeder, fetch, remove):
            for url in ("nonsense", "not a url", "https://tracker", "http://tracker:0", "tracker:8080", ""):
                self.refused([*command, "--tracker", url], "--tracker", f"'{url}'", "expected")
        for command in (seeder, fetch):
            for address in ("x:y:z", "nonsense", "10.0.0.1:70000", "[::1"):
                self.refused([*command, "--advertise", address], "--advertise", f"'{address}'", "expected")
            for address in ("nonsense", ":6881", "localhost:1", "127.0.0.1"):
                self.refused([*command, "--listen", address], "--listen", f"'{address}'", "expected")
            self.refused([*command, "--http", "8081"], "--http", "'8081'", "expected")
        for address in ("nonsense", "8080", "localhost:1"):
            self.refused([*tracker, "--listen", address], "--listen", f"'{address}'", "expected")
        for command in ([TRACKER, "serve"], [SEEDER, "serve"], [SEEDER, "ls"]):
            self.refused([*command, "--store", "/srv/models"], "--store", "'/srv/models'", "file:///")

    def test_times_to_wait_are_more_than_nothing(self):
        for flag in ("--timeout", "--stall-timeout", "--progress-interval"):
            for value in ("0", "0s", "-1s"):
                self.refused(self.fetch("--model", "llama", "--revision", GOOD, flag, value), flag, f"'{value}'")
        source = make_model(self.cluster.path("source"))
        self.refused([SEEDER, "publish", source, "--model", "llama", "--store", self.cluster.store_url, "--progress-interval", "0"], "--progress-interval")
        for value in ("0", "199ms", "61s"):
            self.refused([TRACKER, "serve", "--store", self.cluster.store_url, "--beat", value], "--beat", f"'{value}'")

    def test_a_result_that_cannot_be_written_is_no_success(self):
        source = make_model(self.cluster.path("source"), weights=100_000)
        self.cluster.publish(source)
        for command in ([SEEDER, "publish", source, "--model", "llama", "--store", self.cluster.store_url], [SEEDER, "ls", "--store", self.cluster.store_url],
                        [SEEDER, "ls", "--store", self.cluster.store_url, "--json"], [PEER, "--help"], [TRACKER, "--version"]):
            done = self.cluster.run(["sh", "-c", 'exec "$@" > /dev/full', "sh", *command])
            self.assert_exit(done, 1, "stdout", ";")
            done = self.cluster.run(["sh", "-c", 'exec "$@" >&-', "sh", *command])
            self.assert_exit(done, 1, "stdout", ";")

    def test_the_environment_stands_for_flags_and_flags_win(self):
        address = f"127.0.0.1:{free_port()}"
        command = [PEER, "fetch", "--model", "llama", "--revision", GOOD, "--dest", self.cluster.path("dest"), "--listen", "127.0.0.1:0", "--timeout", "1s"]
        done = self.cluster.run(command, env={"SHOAL_TRACKER": f"http://{address}"})
        self.assert_exit(done, 7, address)
        done = self.cluster.run([*command, "--tracker", "http://127.0.0.1:1"], env={"SHOAL_TRACKER": f"http://{address}"})
        self.assert_exit(done, 7, "127.0.0.1:1")
        self.assertNotIn(address, done.last)

    def test_an_empty_variable_is_unset(self):
        done = self.cluster.run(self.fetch("--model", "llama", "--revision", GOOD, "--timeout", "1s"), env={"SHOAL_MAX_BYTES": "", "SHOAL_TAG": ""})
        self.assert_exit(done, 7)

    def test_a_config_file_holds_the_long_flags(self):
        address = f"127.0.0.1:{free_port()}"
        config = write(self.cluster.path("shoal.toml"), f'tracker = "http://{address}"\ntimeout = "1s"\n'.encode())
        command = [PEER, "fetch", "--config", config, "--model", "llama", "--revision", GOOD, "--dest", self.cluster.path("dest"), "--listen", "127.0.0.1:0"]
        self.assert_exit(self.cluster.run(command), 7, address)

    def test_a_missing_config_file_is_named(self):
        self.refused(self.fetch("--model", "llama", "--revision", GOOD, "--config", self.cluster.path("gone.toml")), "gone.toml")

    def test_a_port_that_is_taken_is_named(self):
        tracker = self.cluster.start_tracker()
        done = self.cluster.run([TRACKER, "serve", "--store", self.cluster.store_url, "--listen", tracker.address()])
        self.assert_exit(done, 4, tracker.address(), "choose another address")

    def test_a_store_that_is_missing_ends_the_servers(self):
        for program in (TRACKER, SEEDER):
            done = self.cluster.run([program, "serve", "--store", f"file://{self.cluster.path('gone')}", "--listen", "127.0.0.1:0"])
            self.assert_exit(done, 3, "gone")


if __name__ == "__main__":
    unittest.main()
