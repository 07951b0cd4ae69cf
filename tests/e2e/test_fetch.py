"""shoal-peer fetch: what lands, what the marker and the events say, and what a second run does."""
import json
import os
import stat
import unittest

from cluster import KIB, MIB, PEER, EndToEnd, Process, flip_byte, make_model, needs_root, tree, write

NOBODY = 65534


class Fetch(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")

    def publish_and_serve(self, *args):
        self.revision = self.cluster.publish(self.source, *args)
        self.cluster.start_servers()
        return self.revision

    def fetch(self, *args, dest=None, **what):
        """A fetch of the revision that has to succeed."""
        done = self.cluster.fetch(dest or self.dest, *args, **({"revision": self.revision} | what))
        self.assertEqual(done.code, 0, done.err[-2000:])
        return done

    def size(self):
        return sum(p.stat().st_size for p in self.source.rglob("*") if p.is_file())

    def test_different_parts_at_once_hold_each_other_up_in_nothing(self):
        self.source = make_model(self.cluster.path("larger"), weights=24 * MIB)
        self.publish_and_serve()
        parts = ("--include", "model-00001*"), ("--exclude", "model-00001*")
        fetches = [self.cluster.start_fetch(self.cluster.path(f"part{i}"), *part, revision=self.revision) for i, part in enumerate(parts)]
        for fetch in fetches:
            self.assertEqual(fetch.wait(12).code, 0, fetch.err)

    def test_every_file_arrives_byte_equal(self):
        self.publish_and_serve()
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_small_files_in_packs_arrive_byte_equal(self):
        for i in range(300):
            write(self.source / f"adapters/{i % 7}/part-{i:03}.bin", 10 + 37 * i)
        self.publish_and_serve()
        manifest = json.loads((self.cluster.store / f"manifests/{self.revision[7:]}.json").read_bytes())
        self.assertTrue(manifest["packs"])
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_C06_odd_names_arrive_byte_equal(self):
        names = ["with space", "trailing ", " leading", "#hash", "a+b", "%2F", "what?", "*", "[x]", "~", "$HOME", "it's \"so\"", "nbsp\u00a0x", "\u202f", "wide\u3000", "lrm\u200e",
                 "del\x7f", "new\nline", "-dash", "--help", "caf\u00e9", "cafe\u0301", "模型", "l" * 255, "tab\t", ";semi", "&amp", "a=b", ":colon", "..dots", "dots..", "...", "C:"]
        for name in names:
            write(self.source / name, name.encode())
            write(self.source / "sub" / name / "deep", name.encode() * 2) if len(name) < 200 else None
        self.publish_and_serve()
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_C21_one_small_file_arrives(self):
        self.source = write(self.cluster.path("small/only.bin"), 7 * KIB).parent
        self.publish_and_serve()
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_C21_one_empty_file_arrives(self):
        self.source = write(self.cluster.path("hollow/empty.bin"), b"").parent
        self.publish_and_serve()
        done = self.fetch()
        self.assertEqual(done.event("ready")["bytes"], 0)
        self.assert_fetched(self.source, self.dest)

    def test_an_in_place_revision_arrives(self):
        self.publish_and_serve("--in-place")
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_files_land_in_root_and_name(self):
        revision = self.cluster.publish(self.source, model="meta-llama/Llama-3.1-8B")
        self.cluster.start_servers()
        root = self.cluster.path("models")
        root.mkdir()
        done = self.cluster.fetch(None, "--root", root, model="meta-llama/Llama-3.1-8B", revision=revision)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, root / "meta-llama/Llama-3.1-8B")
        self.assertEqual([p.name for p in root.iterdir()], ["meta-llama"])
        self.assertEqual(done.event("ready")["path"], str(root / "meta-llama/Llama-3.1-8B"))

    def test_a_name_inside_another_models_directory_is_refused(self):
        revision = self.cluster.publish(self.source, model="llama")
        inner = self.cluster.publish(self.source, model="llama/chat")
        self.cluster.start_servers()
        root = self.cluster.path("models")
        self.assertEqual(self.cluster.fetch(None, "--root", root, model="llama", revision=revision).code, 0)
        before = tree(root)
        done = self.cluster.fetch(None, "--root", root, model="llama/chat", revision=inner)
        self.assertIn(done.code, (2, 4), done.err)
        self.assertEqual(tree(root), before)

    def test_the_ready_event_has_its_fields(self):
        self.publish_and_serve()
        done = self.fetch()
        ready = done.event("ready")
        self.assertEqual((ready["model"], ready["revision"], ready["path"], ready["bytes"]), ("llama", self.revision, str(self.dest), self.size()))
        self.assertEqual(ready["from_origin"] + ready["from_peers"], self.size())
        self.assertEqual(ready["reused"], 0)
        self.assertGreater(ready["seconds"], 0)
        self.assertEqual([done.event(name)["event"] for name in ("resolved", "started", "verified")], ["resolved", "started", "verified"])

    def test_the_marker_says_what_was_fetched(self):
        self.publish_and_serve()
        self.fetch()
        marker = json.loads((self.dest / ".shoal.json").read_text())
        self.assertEqual((marker["model"], marker["revision"], marker["bytes"]), ("llama", self.revision, self.size()))
        files = {file["path"]: file for file in marker["files"]}
        self.assertEqual({os.fsencode(path) for path in files}, set(tree(self.source)))
        for path, file in files.items():
            state = (self.dest / path).stat()
            self.assertEqual((file["size"], file["inode"]), (state.st_size, state.st_ino))

    def test_no_file_has_its_final_name_before_the_end(self):
        self.publish_and_serve()
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "2MB/s", revision=self.revision)
        fetch.wait_for_event("progress", bytes=MIB)
        while fetch.running() and not (self.dest / ".shoal.json").exists():
            names = {p.name for p in self.dest.iterdir()}
            if names - {".shoal"}:  # the renames have begun: all of it is verified by then
                self.assertIsNotNone(fetch.wait_for_event("verified"))
                break
        self.assertEqual(fetch.wait().code, 0)
        self.assert_fetched(self.source, self.dest)

    def test_a_second_run_moves_nothing_and_needs_nobody(self):
        self.publish_and_serve()
        self.fetch()
        before = {p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in self.dest.rglob("*")}
        for server in self.cluster.processes:
            if server.running():
                server.kill()
        for _ in range(3):  # C50: a pod restarts again and again
            ready = self.fetch(deadline=5).event("ready")
            self.assertEqual((ready["from_origin"], ready["from_peers"], ready["bytes"]), (0, 0, self.size()))
        self.assertEqual({p: (p.stat().st_ino, p.stat().st_mtime_ns) for p in self.dest.rglob("*")}, before)

    def test_a_held_file_that_was_touched_is_checked_and_mended(self):
        self.publish_and_serve()
        self.fetch()
        write(self.dest / "config.json", b'{"architectures": ["Y"]}\n')
        done = self.fetch()
        self.assertLess(done.event("ready")["from_origin"] + done.event("ready")["from_peers"], self.size() // 2)
        self.assert_fetched(self.source, self.dest)

    def test_a_tag_is_resolved_once_and_its_digest_said(self):
        self.publish_and_serve("--tag", "prod")
        done = self.fetch("--tag", "prod", revision=None)
        self.assertEqual(done.event("resolved")["revision"], self.revision)
        self.assertIn(self.revision, done.err)
        self.assert_fetched(self.source, self.dest)

    def test_a_held_tag_needs_no_tracker(self):
        self.publish_and_serve("--tag", "prod")
        self.fetch("--tag", "prod", revision=None)
        self.cluster.current_tracker.kill()
        done = self.fetch("--tag", "prod", "--timeout", "10s", revision=None)
        self.assertEqual(done.event("ready")["revision"], self.revision)
        self.assertIn("prod", done.err)

    def test_pairs_of_source_and_destination_are_taken(self):
        self.publish_and_serve("--tag", "prod")
        one, two = self.cluster.path("one"), self.cluster.path("two")
        command = [PEER, "fetch", f"shoal://llama@{self.revision}", one, "shoal://llama:prod", two, "--tracker", self.cluster.current_tracker.url, "--listen", "127.0.0.1:0"]
        done = self.cluster.run(command)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, one)
        self.assert_fetched(self.source, two)

    def test_C09_revisions_with_equal_names_and_sizes_are_never_mixed(self):
        self.publish_and_serve()
        other = make_model(self.cluster.path("other"))
        for name in ("model-00001-of-00002.bin", "config.json"):
            write(other / name, bytes(byte ^ 1 for byte in (other / name).read_bytes()))
        second = self.cluster.publish(other)
        fetches = [self.cluster.start_fetch(self.cluster.path(f"d{i}"), revision=(self.revision, second)[i % 2]) for i in range(4)]
        for i, fetch in enumerate(fetches):
            self.assertEqual(fetch.wait().code, 0, fetch.err)
            self.assert_fetched((self.source, other)[i % 2], self.cluster.path(f"d{i}"))

    def test_several_models_at_once(self):
        self.publish_and_serve()
        sources = {"llama": self.source}
        revisions = {"llama": self.revision}
        for i in range(3):
            name = f"org/model-{i}"
            sources[name] = make_model(self.cluster.path(f"source{i}"), weights=MIB + 1000 * i)
            write(sources[name] / "config.json", name.encode())
            revisions[name] = self.cluster.publish(sources[name], model=name)  # served without a restart
        root = self.cluster.path("models")
        fetches = {name: self.cluster.start_fetch(None, "--root", root, model=name, revision=revision) for name, revision in revisions.items()}
        for name, fetch in fetches.items():
            self.assertEqual(fetch.wait().code, 0, fetch.err)
            self.assert_fetched(sources[name], root / name)

    def test_four_peers_at_once(self):
        self.publish_and_serve()
        fetches = [self.cluster.start_fetch(self.cluster.path(f"peer{i}"), revision=self.revision) for i in range(4)]
        for i, fetch in enumerate(fetches):
            self.assertEqual(fetch.wait().code, 0, fetch.err)
            self.assert_fetched(self.source, self.cluster.path(f"peer{i}"))

    def test_a_late_joiner_gets_all_from_a_peer_when_the_seeder_is_gone(self):
        self.revision = self.cluster.publish(self.source)
        seeder = self.cluster.start_servers()
        first = self.cluster.start_fetch(self.dest, "--linger", "60s", revision=self.revision)
        first.wait_for_event("ready")
        seeder.kill()
        late = self.cluster.path("late")
        ready = self.fetch(dest=late).event("ready")
        self.assertEqual((ready["from_origin"], ready["from_peers"]), (0, self.size()))
        self.assert_fetched(self.source, late)

    def test_two_fetches_into_one_directory_are_one_transfer(self):
        self.publish_and_serve()
        fetches = [self.cluster.start_fetch(self.dest, "--download-limit", "4MB/s", revision=self.revision) for _ in range(2)]
        ready = []
        for fetch in fetches:
            done = fetch.wait(60)
            self.assertEqual(done.code, 0, done.err)
            ready.append(done.event("ready"))
        self.assertEqual([event["bytes"] for event in ready], [self.size()] * 2)
        self.assertLessEqual(sum(event["from_origin"] + event["from_peers"] for event in ready), self.size())
        self.assert_fetched(self.source, self.dest)

    def test_C44_the_second_takes_over_when_the_first_is_killed(self):
        self.publish_and_serve()
        first = self.cluster.start_fetch(self.dest, "--download-limit", "1MB/s", revision=self.revision)
        first.wait_for_event("progress", bytes=MIB)
        second = self.cluster.start_fetch(self.dest, revision=self.revision)
        first.kill()
        self.assertEqual(second.wait(60).code, 0, second.err)
        self.assert_fetched(self.source, self.dest)

    def test_C54_a_filtered_copy_is_completed_by_a_whole_fetch(self):
        self.publish_and_serve()
        done = self.fetch("--include", "*.json")
        self.assertEqual(set(tree(self.dest)), {b"config.json"})
        self.assertLess(done.event("ready")["bytes"], MIB)
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_C87_a_subset_and_the_whole_at_the_same_time(self):
        self.publish_and_serve()
        fetches = [self.cluster.start_fetch(self.dest, *extra, revision=self.revision) for extra in (["--include", "*.json"], [])]
        for fetch in fetches:
            self.assertEqual(fetch.wait(60).code, 0, fetch.err)
        self.assertEqual(tree(self.dest)[b"config.json"], tree(self.source)[b"config.json"])
        self.fetch()
        self.assert_fetched(self.source, self.dest)

    def test_filters_that_leave_nothing_are_an_error(self):
        self.publish_and_serve()
        done = self.cluster.fetch(self.dest, "--include", "*.gguf", revision=self.revision)
        self.assert_exit(done, 3)
        self.assert_nothing_ready(self.dest)

    def test_C47_max_bytes_below_the_need_ends_before_the_first_byte(self):
        self.publish_and_serve()
        done = self.cluster.fetch(self.dest, "--max-bytes", "1MiB", revision=self.revision)
        self.assert_exit(done, 5)
        self.assert_nothing_ready(self.dest)
        self.assertEqual(done.event("failed")["code"], 5)

    def test_C47_nothing_is_written_elsewhere(self):
        self.publish_and_serve()
        home, temporary = self.cluster.path("home"), self.cluster.path("tmp")
        home.mkdir()
        temporary.mkdir()
        done = self.cluster.fetch(self.dest, revision=self.revision, how={"env": {"HOME": str(home), "TMPDIR": str(temporary), "XDG_CACHE_HOME": str(home)}, "cwd": home})
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual((list(home.iterdir()), list(temporary.iterdir())), ([], []))

    @needs_root
    def test_C48_a_user_without_a_home_may_fetch(self):
        self.publish_and_serve()
        volume = self.cluster.path("volume")
        volume.mkdir()
        volume.chmod(0o777)
        done = self.cluster.fetch(volume / "llama", revision=self.revision, how={"user": NOBODY, "env": {"HOME": "/nonexistent"}, "cwd": "/"})
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, volume / "llama")

    def test_C84_modes_do_not_follow_the_umask(self):
        self.publish_and_serve()
        done = self.cluster.fetch(self.dest, revision=self.revision, how={"umask": 0o077})
        self.assertEqual(done.code, 0, done.err)
        for path in [self.dest, *self.dest.rglob("*")]:
            self.assertEqual(oct(stat.S_IMODE(path.stat().st_mode)), oct(0o755 if path.is_dir() else 0o644), path)

    def test_C53_a_log_has_no_carriage_return(self):
        self.publish_and_serve()
        command = self.cluster.peer_command(self.dest, "--download-limit", "2MB/s", revision=self.revision)
        command.remove("--json")
        done = self.cluster.start(Process, "peer", command).wait()
        self.assertEqual(done.code, 0, done.err)
        self.assertNotIn("\r", done.err + done.out)
        self.assertRegex(done.err, r"llama.*%")

    def test_progress_only_grows_and_never_passes_the_total(self):
        self.publish_and_serve()
        done = self.fetch("--download-limit", "2MB/s")
        steps = [event for event in done.events if event["event"] == "progress"]
        self.assertGreater(len(steps), 3)
        self.assertEqual([s["bytes"] for s in steps], sorted(s["bytes"] for s in steps))
        self.assertTrue(all(s["bytes"] <= s["total"] == self.size() for s in steps))


class Resume(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"), weights=8 * MIB)
        self.dest = self.cluster.path("dest")
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()

    def interrupted_at(self, at_least, *args):
        """A fetch killed once so many bytes are verified: how many it said."""
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "6MB/s", *args, revision=self.revision)
        seen = fetch.wait_for_event("progress", bytes=at_least)["bytes"]
        fetch.kill()
        self.assert_nothing_ready(self.dest)
        return seen

    def test_C41_killed_at_five_moments_then_run(self):
        for megabytes in (1, 2, 3, 4, 5):
            self.interrupted_at(megabytes * MIB)
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        ready = done.event("ready")
        self.assertGreaterEqual(ready["reused"], 5 * MIB)
        self.assertLess(ready["from_origin"] + ready["from_peers"], 4 * MIB)
        self.assert_fetched(self.source, self.dest)

    def test_C42_staged_bytes_that_are_wrong_are_found(self):
        self.interrupted_at(4 * MIB)
        staged = sorted((p for p in (self.dest / ".shoal").rglob("*") if p.is_file()), key=lambda p: -p.stat().st_size)
        with open(staged[0], "r+b") as file:  # power was lost: what was not synced is zero
            file.write(bytes(MIB))
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)

    def test_C82_every_state_file_garbled_is_survived(self):
        harms = [lambda p: p.write_bytes(b"{garbage"), lambda p: p.write_bytes(bytes(p.stat().st_size)), lambda p: os.truncate(p, 0), lambda p: os.truncate(p, p.stat().st_size + 4096)]
        for harm in harms:
            self.interrupted_at(2 * MIB)
            for path in (self.dest / ".shoal").rglob("*"):
                if path.is_file() and (harm is harms[0] or not path.name.startswith("owner.")):  # a garbled claim is waited on for 10 s: once will do
                    harm(path)
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)

    def test_a_marker_that_is_garbage_is_never_taken_for_ready(self):
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        (self.dest / ".shoal.json").write_bytes(b'{"revision":')
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertIn(done.code, (0, 4), done.err)
        if done.code == 0:
            self.assert_fetched(self.source, self.dest)
        else:
            self.assertIn(".shoal.json", done.last)

    def test_a_restarted_seeder_goes_on_with_the_transfer(self):
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "2MB/s", revision=self.revision)
        fetch.wait_for_event("progress", bytes=2 * MIB)
        seeder = next(p for p in self.cluster.processes if "seeder" in p.name and p.running())
        seeder.kill()
        self.cluster.start_seeder()
        done = fetch.wait(60)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)


class Destination(EndToEnd):
    """What is at the destination already is never harmed."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"), weights=MIB)
        self.dest = self.cluster.path("dest")
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()

    def publish_next(self):
        write(self.source / "config.json", b"{}")
        write(self.source / "added.txt", b"new")
        (self.source / "tokenizer/vocab.txt").unlink()
        return self.cluster.publish(self.source)

    def test_C55_files_of_somebody_else_are_named_and_left(self):
        write(self.dest / "notes.txt", b"mine")
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assert_exit(done, 4, "notes.txt")
        self.assertEqual((self.dest / "notes.txt").read_bytes(), b"mine")
        self.assertEqual([p.name for p in self.dest.iterdir()], ["notes.txt"])

    def test_C55_lost_and_found_does_not_count(self):
        (self.dest / "lost+found").mkdir(parents=True)
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)

    def test_C55_another_revision_is_refused_with_both_digests(self):
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        before = tree(self.dest)
        after = self.publish_next()
        done = self.cluster.fetch(self.dest, revision=after)
        self.assert_exit(done, 4, self.revision, after, "--replace")
        self.assertEqual(tree(self.dest), before)
        self.assertIn(self.revision, (self.dest / ".shoal.json").read_text())

    def test_C55_replace_reuses_what_is_equal_and_removes_the_rest(self):
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        after = self.publish_next()
        with open(self.dest / "config.json", "rb") as reader:  # an engine that still reads the old file
            old = (self.dest / "config.json").read_bytes()
            done = self.cluster.fetch(self.dest, "--replace", revision=after)
            self.assertEqual(done.code, 0, done.err)
            self.assertEqual(reader.read(), old)
        self.assertGreater(done.event("ready")["reused"], MIB // 2)
        self.assert_fetched(self.source, self.dest)

    def test_C55_another_model_is_refused(self):
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        before = tree(self.dest)
        other = self.cluster.publish(self.source, model="other")
        self.assert_exit(self.cluster.fetch(self.dest, model="other", revision=other), 4)
        self.assertEqual(tree(self.dest), before)

    def test_a_destination_that_is_a_file_is_refused(self):
        write(self.dest, b"a file")
        self.assert_exit(self.cluster.fetch(self.dest, revision=self.revision), 4, self.dest)
        self.assertEqual(self.dest.read_bytes(), b"a file")

    @needs_root
    def test_a_destination_that_cannot_be_written_is_named(self):
        self.dest.mkdir()
        done = self.cluster.fetch(self.dest, revision=self.revision, how={"user": NOBODY})
        self.assert_exit(done, 4, self.dest)

    def test_a_link_to_nowhere_or_in_a_circle_as_destination_is_refused_by_name(self):
        for name, target in (("dangling", "nowhere"), ("circle", "circle")):
            link = self.cluster.path(name)
            link.symlink_to(target)
            for dest in (link, link / "below"):
                with self.subTest(str(dest)):
                    self.assert_exit(self.cluster.fetch(dest, revision=self.revision), 4, link, ";")

    def test_a_link_as_destination_is_followed(self):
        real = self.cluster.path("real")
        real.mkdir()
        self.dest.symlink_to(real)
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        self.assert_fetched(self.source, real)

    def test_C78_a_held_revision_that_was_deleted_is_fetched_again(self):
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        for path in sorted(self.dest.rglob("*"), reverse=True):
            if path.name != ".shoal.json":
                path.rmdir() if path.is_dir() else path.unlink()
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)


class Verify(EndToEnd):
    """shoal-peer verify, with and without --repair."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers()
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        self.shard = self.dest / "model-00001-of-00002.bin"

    def verify(self, *args):
        return self.cluster.run([PEER, "verify", "--dest", self.dest, *args])

    def flip(self):
        flip_byte(self.shard, MIB + 5)

    def test_a_good_copy_verifies(self):
        self.assertEqual(self.verify().code, 0)

    def test_C43_a_wrong_byte_is_named_with_its_file_and_range(self):
        self.flip()
        before = tree(self.dest)
        done = self.verify()
        self.assertEqual(done.code, 6, done.err)
        self.assertIn(self.shard.name, done.err)
        self.assertIn(str(MIB), done.err + done.out)  # the piece begins there
        self.assertEqual(tree(self.dest), before)
        failed = self.verify("--json").event("failed")
        self.assertEqual(failed["code"], 6)
        self.assertIn(self.shard.name, failed["what"])

    def test_C43_repair_fetches_only_what_is_wrong(self):
        self.flip()
        other = self.dest / "model-00002-of-00002.bin"
        before = other.stat()
        done = self.verify("--repair", "--tracker", self.cluster.current_tracker.url)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)
        self.assertEqual((other.stat().st_ino, other.stat().st_mtime_ns), (before.st_ino, before.st_mtime_ns))
        self.assertEqual(self.verify().code, 0)

    def test_C43_what_a_broken_off_repair_found_wrong_is_believed_by_nobody(self):
        self.flip()
        again = os.stat(self.shard)
        nobody = "http://127.0.0.1:1"
        self.assertEqual(self.verify("--repair", "--tracker", nobody, "--timeout", "1s").code, 7)
        self.assertEqual(os.stat(self.shard).st_mtime_ns, again.st_mtime_ns)  # nothing but its content tells
        done = self.verify()
        self.assertEqual(done.code, 6, done.err)
        self.assertIn(self.shard.name, done.err)
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)

    def test_C43_a_broken_off_repair_is_finished_by_the_next(self):
        self.flip()
        self.assertEqual(self.verify("--repair", "--tracker", "http://127.0.0.1:1", "--timeout", "1s").code, 7)
        done = self.verify("--repair", "--tracker", self.cluster.current_tracker.url)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)
        self.assertEqual(self.verify().code, 0)

    def test_a_missing_file_is_named(self):
        (self.dest / "config.json").unlink()
        done = self.verify()
        self.assertEqual(done.code, 6, done.err)
        self.assertIn("config.json", done.err)

    def test_verify_of_a_directory_without_a_marker_is_an_error(self):
        (self.dest / ".shoal.json").unlink()
        self.assertIn(self.verify().code, (3, 4))


if __name__ == "__main__":
    unittest.main()
