"""A bucket of a real S3 gateway in the directory's place."""
import contextlib
import json
import os
import socket
import unittest

from cluster import KIB, MIB, counted, make_model, write
from gateway import OnS3


class S3(OnS3):
    """Publish, serve, fetch, verify, ls and remove."""

    def test_a_model_goes_through_a_bucket_once(self):
        source = make_model(self.cluster.path("source"), weights=40 * MIB)
        revision = self.cluster.publish(source, "--tag", "prod")
        self.cluster.start_tracker()
        seeder = self.cluster.start_seeder()
        fetches = [self.cluster.start_fetch(self.cluster.path(f"dest{i}"), revision=revision) for i in range(2)]
        for i, fetch in enumerate(fetches):
            fetch.wait_for_event("ready")
            self.assert_fetched(source, self.cluster.path(f"dest{i}"))
        size = sum(path.stat().st_size for path in source.rglob("*") if path.is_file())
        self.assertLess(counted(seeder, "shoal_origin_bytes_total"), 1.05 * size + 65536)
        self.assertIn("prod", self.cluster.seeder_command("ls", "llama").out)
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 0)

    def test_what_is_removed_leaves_the_bucket_empty(self):
        revision = self.cluster.publish(make_model(self.cluster.path("source")))
        self.assert_exit(self.cluster.seeder_command("remove", "llama", revision, "--offline", "--force"), 0)
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 3, "llama")
        self.assertEqual(self.keys(), [])

    def test_wrong_keys_and_no_bucket_are_said(self):
        source = make_model(self.cluster.path("source"))
        publish = ("publish", source, "--model", "llama")
        self.assert_exit(self.cluster.seeder_command(*publish, store="s3://nothing/here"), 3, "store not found", "s3://nothing/here")
        os.environ["AWS_SECRET_ACCESS_KEY"] = "wrongwrongwrong"
        done = self.cluster.seeder_command(*publish)
        self.assert_exit(done, 4, self.cluster.s3, "403")
        self.assertNotIn("wrongwrongwrong", done.err + done.out)
        os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
        self.assert_exit(self.cluster.seeder_command(*publish, deadline=60), 7, "http://127.0.0.1:1")

    def test_C16_a_publish_that_was_killed_goes_on_and_leaves_no_parts(self):
        source = self.cluster.path("source")
        write(source / "a.bin", 1 * MIB)
        write(source / "z.bin", 200 * MIB)  # the large one goes first, a.bin beside it
        killed = self.cluster.start_seeder_command("publish", source, "--model", "llama")
        killed.wait_for(lambda: self.uploads() and self.keys("shoal/blobs/"), "one blob up, the other under way")
        killed.kill()
        self.assertEqual(len(self.uploads()), 1)
        self.assertEqual(self.keys("shoal/models/"), [])
        done = self.cluster.seeder_command("publish", source, "--model", "llama", "--json", deadline=60)
        self.assert_exit(done, 0)
        self.assertEqual(done.event("published")["new_bytes"], 200 * MIB)
        self.assertEqual(self.uploads(), [])
        self.assert_exit(self.cluster.seeder_command("verify", "llama", done.event("published")["revision"], deadline=60), 0)

    def test_ten_thousand_small_files_are_few_reads(self):
        source = self.cluster.path("source")
        for i in range(10_000):
            write(source / f"{i // 100:02}" / f"{i:05}.bin", 4 * KIB)
        revision = self.cluster.publish(source, deadline=60)
        self.cluster.start_servers()
        before = len(self.reads("shoal/"))
        fetches = [self.cluster.start_fetch(self.cluster.path(f"dest{i}"), revision=revision) for i in range(2)]
        for fetch in fetches:
            self.assertEqual(fetch.wait(60).code, 0)
        self.assert_fetched(source, self.cluster.path("dest0"))
        self.assertLessEqual(len(self.reads("shoal/blobs/")), 10)
        self.assertLessEqual(len(self.reads("shoal/")) - before, 20)

    def test_an_endpoint_of_another_name_or_authority_is_not_trusted(self):
        source = make_model(self.cluster.path("source"))
        publish = ("publish", source, "--model", "llama")
        trusting = {"AWS_CA_BUNDLE": f"{self.gateway}/certificate.pem"}
        os.environ["AWS_ENDPOINT_URL"] = self.tls_endpoint
        self.assert_exit(self.cluster.seeder_command(*publish), 4, "not trusted", self.tls_endpoint, "AWS_CA_BUNDLE")
        self.assert_exit(self.cluster.seeder_command(*publish, env=trusting), 0)
        os.environ["AWS_ENDPOINT_URL"] = self.tls_endpoint.replace("localhost", "127.0.0.1")
        self.assert_exit(self.cluster.seeder_command(*publish, env=trusting), 4, "not trusted", self.tls_endpoint.replace("localhost", "127.0.0.1"))

    def test_a_publish_that_waits_for_a_silent_store_ends_when_it_is_told_to(self):
        source = make_model(self.cluster.path("source"))
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
            os.environ["AWS_ENDPOINT_URL"] = f"http://127.0.0.1:{silent.getsockname()[1]}"
            publish = self.cluster.start_seeder_command("publish", source, "--model", "llama")
            with silent.accept()[0] as connection:
                self.assertTrue(connection.recv(1))
                self.assert_exit(publish.terminate(), 143)

    def test_one_key_that_may_not_be_read_is_named(self):
        revision = self.cluster.publish(make_model(self.cluster.path("source")))
        key = self.keys("shoal/blobs/")[0]
        deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::{self.bucket}/{key}"}
        self.ask(f"{self.bucket}?policy=", "-X", "PUT", body=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 4, key.removeprefix("shoal/"), "403")


if __name__ == "__main__":
    unittest.main()
