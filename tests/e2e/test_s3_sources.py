"""Models that already lie in a bucket: `publish s3://bucket/prefix`, in place or copied."""
import unittest

from cluster import KIB, MIB, counted, make_model, tree, write
from gateway import OnS3


class S3Sources(OnS3):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")
        self.prefix = f"s3://{self.bucket}/m"

    def publish_prefix(self, *args):
        """The revision of what lies below m/."""
        self.upload_tree(self.source, "m/")
        return self.cluster.publish(self.prefix, *args)

    def refused(self, *words, code=2, source=None, args=()):
        done = self.cluster.seeder_command("publish", source or self.prefix, "--model", "llama", *args)
        self.assert_exit(done, code, *words)
        self.assertEqual(done.out, "")

    def fetched(self, revision, fetches=1, deadline=30):
        running = [self.cluster.start_fetch(self.cluster.path(f"dest{i}"), revision=revision) for i in range(fetches)]
        for i, fetch in enumerate(running):
            done = fetch.wait(deadline)
            self.assertEqual(done.code, 0, done.err)
            self.assert_fetched(self.source, self.cluster.path(f"dest{i}"))

    def fails(self, revision, code, *words):
        done = self.cluster.fetch(self.dest, "--timeout", "60s", revision=revision, deadline=70)
        self.assert_exit(done, code, *words)
        self.assert_nothing_ready(self.dest)

    def test_what_lies_in_a_bucket_is_read_once_to_publish_and_once_to_serve_eight(self):
        self.source = make_model(self.cluster.path("large"), weights=48 * MIB)
        size = sum(path.stat().st_size for path in self.source.rglob("*") if path.is_file())
        revision = self.publish_prefix()
        self.assertEqual(self.keys("shoal/blobs/"), [])
        publishing = self.reads("m/")
        self.assertLess(sum(publishing), 1.01 * size)
        self.assertLess(len(publishing), 60)
        seeder = self.cluster.start_servers()
        self.fetched(revision, fetches=8, deadline=60)
        serving = self.reads("m/")[len(publishing):]
        self.assertGreaterEqual(sum(serving), size)
        self.assertLess(sum(serving), 1.01 * size)
        self.assertLessEqual(len(serving), size / (256 * KIB) + 10)
        self.assertLess(counted(seeder, "shoal_origin_bytes_total"), 1.01 * size + 256 * KIB)

    def test_it_is_the_revision_of_the_same_files_in_a_directory(self):
        revision = self.publish_prefix()
        self.assertEqual(self.cluster.publish(self.source, store=f"file://{self.cluster.store}"), revision)
        self.assertEqual(self.cluster.publish(self.prefix), revision)

    def test_C14_a_key_that_was_overwritten_by_as_many_bytes_withdraws_the_revision(self):
        revision = self.publish_prefix()
        self.put("m/model-00001-of-00002.bin", bytes((self.source / "model-00001-of-00002.bin").stat().st_size))
        self.cluster.start_servers()
        self.fails(revision, 6, "model-00001-of-00002.bin", self.prefix)

    def test_a_key_that_was_cut_withdraws_the_revision(self):
        revision = self.publish_prefix()
        self.put("m/model-00001-of-00002.bin", (self.source / "model-00001-of-00002.bin").read_bytes()[:-1])
        self.cluster.start_servers()
        self.fails(revision, 6, "model-00001-of-00002.bin", self.prefix)

    def test_a_key_that_was_deleted_is_not_found(self):
        revision = self.publish_prefix()
        self.delete("m/model-00001-of-00002.bin")
        self.cluster.start_servers()
        self.fails(revision, 3, "model-00001-of-00002.bin", self.prefix)

    def test_verify_names_the_key_that_is_another(self):
        revision = self.publish_prefix()
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 0)
        self.put("m/model-00002-of-00002.bin", b"short")
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 6, "model-00002-of-00002.bin")

    def test_a_key_that_changes_while_it_is_published_is_named(self):
        self.upload_tree(self.source, "m/")
        command = ("publish", self.prefix, "--model", "llama", "--origin-limit", "1MB/s", "--json", "--progress-interval", "100ms")
        publish = self.cluster.start_seeder_command(*command)
        publish.wait_for_event("progress", bytes=1)
        self.put("m/model-00002-of-00002.bin", bytes((self.source / "model-00002-of-00002.bin").stat().st_size))
        self.assert_exit(publish.wait(), 6, "model-00002-of-00002.bin")
        self.assertEqual(self.keys("shoal/models/"), [])

    def test_C07_keys_that_stand_for_directories_are_left_out_and_empty_files_arrive(self):
        write(self.source / "empty.txt", b"")
        self.put_empty("m/")
        self.put_empty("m/sub/")
        revision = self.publish_prefix()
        self.cluster.start_servers()
        self.fetched(revision)

    def test_C07_an_empty_prefix_and_filters_that_leave_nothing_are_errors(self):
        self.refused("nothing to publish", self.prefix, code=3)
        self.upload_tree(self.source, "m/")
        self.refused("nothing to publish", self.prefix, code=3, args=("--include", "*.none"))
        self.refused("store not found", code=3, source="s3://no-such-bucket/m")

    def test_C05_a_neighbour_with_the_same_beginning_is_not_touched(self):
        self.put("m-hf/other.bin", b"other")
        self.put("m.txt", b"other")
        revision = self.publish_prefix()
        self.cluster.start_servers()
        self.fetched(revision)

    def test_C06_odd_keys_arrive_byte_equal(self):
        for name in ("with space", "trailing ", "#hash", "a+b", "a%2Fb", "what?", "star*", "[x]", "~tilde", "$HOME", "quo'te", "nbsp\u00a0x", "wide\u3000x",
                     "-leading", "x" * 255, "nfc-\u00e9", "nfd-e\u0301", "&amp;", "a=b;c", ".hidden"):
            write(self.source / "odd" / name, name.encode())
        revision = self.publish_prefix()
        self.cluster.start_servers()
        self.fetched(revision)

    def test_C83_keys_that_no_tree_can_hold_are_refused_in_one_message(self):
        file = self.cluster.path("file")
        write(file, b"content")
        self.upload({key: file for key in ("m/out", "m/out/x", "m/a//w.bin", "m/./y", "m//z", "m/../x")})
        self.refused("'out'", "'a//w.bin'", "'./y'", "'/z'", "'../x'", self.prefix)
        self.assertEqual(self.keys("shoal/"), [])

    def test_thousands_of_small_keys_in_place_arrive_and_are_read_once(self):
        count = 3_000
        self.source = self.cluster.path("small")
        for i in range(count):
            write(self.source / f"{i // 100:02}" / f"{i:05}.bin", 4 * KIB)
        revision = self.publish_prefix()
        publishing = len(self.reads("m/"))
        self.assertEqual(publishing, count)
        self.cluster.start_servers()
        self.fetched(revision, fetches=8, deadline=100)
        serving = self.reads("m/")[publishing:]
        self.assertLess(sum(serving), 1.02 * count * 4 * KIB)
        self.assertLess(len(serving), 1.02 * count)

    def test_a_copy_needs_its_source_no_more(self):
        revision = self.publish_prefix("--copy")
        self.assertLess(sum(self.reads("m/")), 1.02 * sum(path.stat().st_size for path in self.source.rglob("*") if path.is_file()))
        for key in self.keys("m/"):
            self.delete(key)
        self.cluster.start_servers()
        self.fetched(revision)

    def test_a_store_inside_of_its_source_is_refused(self):
        self.upload_tree(self.source, "m/")
        self.refused("lies inside", source=f"s3://{self.bucket}")


if __name__ == "__main__":
    unittest.main()
