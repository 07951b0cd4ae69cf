"""shoal-seeder publish and what it leaves in the store."""
import hashlib
import json
import os
import pathlib
import socket
import unittest

from cluster import KIB, MIB, SEEDER, EndToEnd, Process, blobs, make_model, needs_root, tree, wait_until, write

NOBODY = 65534


def snapshot(store):
    """What stands in a store, with the times: equal means that nothing was written."""
    return {p.relative_to(store): (p.stat().st_mtime_ns, p.stat().st_ino) for p in pathlib.Path(store).rglob("*")}


class Publish(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))

    def records(self):
        """Everything by which a reader could come upon a revision."""
        return [p for folder in ("manifests", "layers", "locations", "models") for p in (self.cluster.store / folder).rglob("*") if p.is_file()]

    def test_prints_exactly_one_line_the_revision(self):
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama")
        self.assertEqual(done.code, 0, done.err)
        self.assertRegex(done.out, r"\Asha256:[0-9a-f]{64}\n\Z")

    def test_the_revision_is_the_digest_of_the_manifest(self):
        hex_digits = self.cluster.publish(self.source).removeprefix("sha256:")
        manifest = (self.cluster.store / f"manifests/{hex_digits}.json").read_bytes()
        self.assertEqual(hashlib.sha256(manifest).hexdigest(), hex_digits)
        listed = {os.fsencode(file["path"]): file["sha256"] for file in json.loads(manifest)["files"]}
        self.assertEqual(listed, tree(self.source))

    def test_json_ends_with_the_published_event(self):
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama", "--tag", "prod", "--tag", "v1", "--json")
        self.assertEqual(done.code, 0, done.err)
        last = json.loads(done.out.splitlines()[-1])
        sizes = [p.stat().st_size for p in self.source.rglob("*") if p.is_file()]
        self.assertEqual(last["event"], "published")
        self.assertEqual((last["model"], last["files"], last["bytes"], last["new_bytes"]), ("llama", len(sizes), sum(sizes), sum(sizes)))
        self.assertRegex(last["revision"], r"\Asha256:[0-9a-f]{64}\Z")
        self.assertEqual(sorted(last["tags"]), ["prod", "v1"])
        self.assertGreater(last["seconds"], 0)

    def test_the_same_content_again_writes_nothing(self):
        first = self.cluster.publish(self.source)
        before = snapshot(self.cluster.store)
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama", "--json")
        self.assertEqual(done.event("published")["revision"], first)
        self.assertEqual(done.event("published")["new_bytes"], 0)
        self.assertEqual(snapshot(self.cluster.store), before)

    def test_dry_run_names_the_revision_and_writes_nothing(self):
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama", "--dry-run")
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(list(self.cluster.store.iterdir()), [])
        self.assertEqual(done.out.strip(), self.cluster.publish(self.source))

    def test_C02_killed_and_run_again_uploads_only_what_is_missing(self):
        source = self.cluster.path("shards")
        for i in range(8):
            write(source / f"shard-{i}.bin", MIB + i)
        command = ["publish", source, "--model", "llama", "--origin-limit", "4MB/s"]
        first = self.cluster.start(Process, "publish", [SEEDER, *command, "--store", self.cluster.store_url])
        first.wait_for(lambda: len(blobs(self.cluster.store)) >= 2, "two blobs are stored")
        first.kill()
        self.assertEqual(self.records(), [])
        kept = {p: p.stat().st_ino for p in blobs(self.cluster.store)}
        self.assertLess(len(kept), 8)
        again = self.cluster.seeder_command("publish", source, "--model", "llama", "--json")
        self.assertEqual(again.code, 0, again.err)
        self.assertEqual({p: p.stat().st_ino for p in kept}, kept)
        self.assertEqual(again.event("published")["new_bytes"], sum(MIB + i for i in range(8)) - sum(p.stat().st_size for p in kept))
        undisturbed = self.cluster.path("store2")
        undisturbed.mkdir()
        self.assertEqual(again.event("published")["revision"], self.cluster.publish(source, store=f"file://{undisturbed}"))

    def test_C03_slash_dot_and_link_to_the_root_make_no_difference(self):
        link = self.cluster.path("link")
        link.symlink_to(self.source)
        plain = self.cluster.publish(self.source)
        self.assertEqual(self.cluster.publish(f"{self.source}/"), plain)
        self.assertEqual(self.cluster.publish(link), plain)
        self.assertEqual(self.cluster.publish(".", cwd=self.source), plain)

    def test_C04_a_path_like_the_models_name_stays_whole(self):
        source = self.cluster.path("model")
        write(source / "model/checkpoints/model.ckpt", 9000)
        write(source / "model/model", 10)
        revision = self.cluster.publish(source, model="model")
        manifest = json.loads((self.cluster.store / f"manifests/{revision[7:]}.json").read_bytes())
        self.assertEqual([file["path"] for file in manifest["files"]], ["model/checkpoints/model.ckpt", "model/model"])

    def test_C05_neighbours_with_a_common_beginning_stay_apart(self):
        top = self.cluster.path("models")
        write(top / "m/a.bin", 1000)
        write(top / "m-hf/b.bin", 1001)
        write(top / "m.txt", b"not of the model")
        one = self.cluster.publish(top / "m", "--tag", "prod", model="merlin-7b")
        two = self.cluster.publish(top / "m-hf", "--tag", "prod", model="merlin-7b-hf")
        manifest = json.loads((self.cluster.store / f"manifests/{one[7:]}.json").read_bytes())
        self.assertEqual([file["path"] for file in manifest["files"]], ["a.bin"])
        listed = self.cluster.seeder_command("ls", "merlin-7b", "--json").out
        self.assertIn(one, listed)
        self.assertNotIn(two, listed)

    def test_C08_content_of_two_models_is_stored_once_and_removable_one_by_one(self):
        first = self.cluster.publish(self.source, model="one")
        count = len(blobs(self.cluster.store))
        second = self.cluster.publish(self.source, model="two")
        self.assertEqual(len(blobs(self.cluster.store)), count)
        removed = self.cluster.seeder_command("remove", "one", first, "--offline", "--force")
        self.assertEqual(removed.code, 0, removed.err)
        self.assertEqual(self.cluster.seeder_command("verify", "two", second).code, 0)
        self.assert_exit(self.cluster.seeder_command("verify", "one", first), 3)

    def test_C01_a_file_that_grows_while_it_is_read_is_caught(self):
        command = [SEEDER, "publish", self.source, "--model", "llama", "--store", self.cluster.store_url, "--origin-limit", "1MB/s"]
        publish = self.cluster.start(Process, "publish", command)
        shard = self.source / "model-00001-of-00002.bin"

        def grow():
            with open(shard, "ab") as file:
                file.write(b"more")
            return not publish.running()

        wait_until(grow, "publish ends", 60)
        self.assert_exit(publish.done(), 6, shard.name)
        self.assertEqual(self.records(), [])

    def test_C10_a_shard_that_is_a_web_page_warns_and_strict_refuses(self):
        write(self.source / "bad.safetensors", b"<!DOCTYPE html><html>rate limit exceeded</html>")
        warned = self.cluster.seeder_command("publish", self.source, "--model", "llama")
        self.assertEqual(warned.code, 0, warned.err)
        self.assertIn("bad.safetensors", warned.err)
        self.assert_exit(self.cluster.seeder_command("publish", self.source, "--model", "llama", "--strict"), 2, "bad.safetensors")

    def test_C11_a_link_inside_the_tree_is_the_file_that_it_points_to(self):
        (self.source / "alias.json").symlink_to("config.json")
        revision = self.cluster.publish(self.source)
        copy = self.cluster.path("copy")
        for path in self.source.rglob("*"):
            if path.is_file():
                write(copy / path.relative_to(self.source), path.read_bytes())
        self.assertEqual(self.cluster.publish(copy), revision)

    def test_C11_what_is_no_file_is_refused_by_name(self):
        outside = write(self.cluster.path("outside.bin"), 100)
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        cases = {
            "fifo": os.mkfifo,
            "socket": lambda path: listener.bind(str(path)),
            "leaving": lambda path: path.symlink_to(outside),
            "dangling": lambda path: path.symlink_to("nowhere"),
            "circle": lambda path: path.symlink_to("circle"),
        }
        for name, make in cases.items():
            with self.subTest(name):
                path = self.source / name
                make(path)
                done = self.cluster.seeder_command("publish", self.source, "--model", "llama")
                self.assert_exit(done, 2, name)
                if name == "leaving":
                    self.assertIn("--follow-links", done.last)
                path.unlink()
        self.assertEqual(self.records(), [])

    def test_C11_a_hub_cache_snapshot_is_the_same_as_plain_files(self):
        snapshot_dir = self.cluster.path("hub/snapshots/abc")
        for i, path in enumerate(sorted(p for p in self.source.rglob("*") if p.is_file())):
            write(self.cluster.path(f"hub/blobs/{i}"), path.read_bytes())
            link = snapshot_dir / path.relative_to(self.source)
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(os.path.relpath(self.cluster.path(f"hub/blobs/{i}"), link.parent))
        self.assertEqual(self.cluster.publish(snapshot_dir, "--follow-links"), self.cluster.publish(self.source))

    def test_one_file_is_published_under_its_own_name(self):
        file = write(self.cluster.path("weights.gguf"), 300 * KIB)
        revision = self.cluster.publish(file, model="one")
        manifest = json.loads((self.cluster.store / f"manifests/{revision[7:]}.json").read_bytes())
        self.assertEqual([f["path"] for f in manifest["files"]], ["weights.gguf"])

    def test_in_place_copies_nothing(self):
        revision = self.cluster.publish(self.source, "--in-place")
        self.assertEqual(blobs(self.cluster.store), [])
        self.assertEqual(self.cluster.seeder_command("verify", "llama", revision).code, 0)
        self.assertEqual(revision, self.cluster.publish(self.source, "--copy"))

    def test_filters_choose_by_include_then_exclude(self):
        revision = self.cluster.publish(self.source, "--include", "*.bin", "--include", "tokenizer/", "--exclude", "*/empty")
        manifest = json.loads((self.cluster.store / f"manifests/{revision[7:]}.json").read_bytes())
        self.assertEqual([f["path"] for f in manifest["files"]], ["model-00001-of-00002.bin", "model-00002-of-00002.bin", "tokenizer/vocab.txt"])

    def test_what_a_fetch_left_is_left_out_and_other_shoal_names_are_refused(self):
        plain = self.cluster.publish(self.source)
        write(self.source / ".shoal.json", b"{}")
        write(self.source / ".shoal/work/part", 100)
        self.assertEqual(self.cluster.publish(self.source), plain)
        write(self.source / ".shoal-notes", b"x")
        self.assert_exit(self.cluster.seeder_command("publish", self.source, "--model", "llama"), 2, ".shoal-notes")

    def test_C06_names_that_cannot_be_stored_are_refused_all_in_one_message(self):
        write(os.fsencode(self.source) + b"/back\\slash", b"1")
        write(os.fsencode(self.source) + b"/latin-\xe9", b"2")
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama")
        self.assert_exit(done, 2, "back", "latin-")
        self.assertEqual(self.records(), [])

    def test_C07_an_empty_source_is_an_error(self):
        empty = self.cluster.path("empty")
        (empty / "folder").mkdir(parents=True)
        self.assert_exit(self.cluster.seeder_command("publish", empty, "--model", "llama"), 3, empty)
        self.assertEqual(self.records(), [])

    def test_C07_filters_that_leave_nothing_are_an_error(self):
        self.assert_exit(self.cluster.seeder_command("publish", self.source, "--model", "llama", "--include", "*.gguf"), 3)
        self.assertEqual(self.records(), [])

    def test_a_source_that_is_missing_is_an_error(self):
        self.assert_exit(self.cluster.seeder_command("publish", self.cluster.path("gone"), "--model", "llama"), 3, "gone")

    def test_a_store_that_is_missing_is_named(self):
        self.assert_exit(self.cluster.seeder_command("publish", self.source, "--model", "llama", store=f"file://{self.cluster.path('gone')}"), 3, "gone")

    @needs_root
    def test_a_store_that_is_read_only_is_named(self):
        self.cluster.store.chmod(0o555)
        done = self.cluster.seeder_command("publish", self.source, "--model", "llama", user=NOBODY)
        self.assert_exit(done, 4, self.cluster.store)

    @needs_root
    def test_a_source_that_is_unreadable_is_named(self):
        self.cluster.store.chmod(0o777)
        (self.source / "config.json").chmod(0)
        self.assert_exit(self.cluster.seeder_command("publish", self.source, "--model", "llama", user=NOBODY), 4, "config.json")

    @needs_root
    def test_C84_a_strict_umask_does_not_reach_the_store(self):
        revision = self.cluster.publish(self.source, umask=0o077)
        self.assertEqual(self.cluster.seeder_command("verify", "llama", revision, user=NOBODY).code, 0)


class Catalog(EndToEnd):
    """ls, tag, untag, remove, verify."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))

    def test_a_tag_moves_from_one_revision_to_the_next(self):
        old = self.cluster.publish(self.source, "--tag", "prod")
        write(self.source / "config.json", b"{}")
        new = self.cluster.publish(self.source)
        self.assertNotEqual(old, new)
        self.assertEqual(self.cluster.seeder_command("tag", "llama", "prod", new).code, 0)
        rows = [json.loads(line) for line in self.cluster.seeder_command("ls", "llama", "--json").out.splitlines()]
        text = json.dumps(rows)
        self.assertIn(old, text)
        self.assertIn(new, text)
        self.assertEqual(self.cluster.seeder_command("untag", "llama", "prod").code, 0)
        self.assert_exit(self.cluster.seeder_command("untag", "llama", "other"), 3, "other")

    def test_a_tag_on_a_revision_that_is_not_there_is_refused(self):
        self.cluster.publish(self.source)
        unknown = "sha256:" + "0" * 64
        self.assert_exit(self.cluster.seeder_command("tag", "llama", "prod", unknown), 3, unknown)

    def test_ls_of_an_unknown_model_is_an_error(self):
        self.assert_exit(self.cluster.seeder_command("ls", "unknown"), 3, "unknown")

    def test_ls_shows_models_with_a_slash(self):
        self.cluster.publish(self.source, model="meta-llama/Llama-3.1-8B")
        self.assertIn("meta-llama/Llama-3.1-8B", self.cluster.seeder_command("ls").out)

    def test_remove_asks_every_tracker_first(self):
        revision = self.cluster.publish(self.source)
        done = self.cluster.seeder_command("remove", "llama", revision, "--tracker", "http://127.0.0.1:1")
        self.assert_exit(done, 7, "127.0.0.1:1")
        self.assertEqual(self.cluster.seeder_command("verify", "llama", revision).code, 0)

    def test_remove_refuses_while_the_tracker_has_just_started(self):
        revision = self.cluster.publish(self.source)
        tracker = self.cluster.start_tracker("--beat", "60s")
        self.assert_exit(self.cluster.seeder_command("remove", "llama", revision, "--tracker", tracker.url), 7, "just started")
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 0)

    def test_remove_takes_a_revision_that_nobody_holds(self):
        revision = self.cluster.publish(self.source)
        tracker = self.cluster.start_tracker("--beat", "500ms")

        def remove():
            return self.cluster.seeder_command("remove", "llama", revision, "--tracker", tracker.url)

        wait_until(lambda: json.loads(tracker.get("/api/v1/status")[1])["complete_picture"], "the tracker knows who is there")
        done = remove()
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(blobs(self.cluster.store), [])
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 3)


if __name__ == "__main__":
    unittest.main()
