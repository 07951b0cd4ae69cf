"""A bucket of a real S3 gateway in the directory's place."""
import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from cluster import MIB, EndToEnd, counted, free_port, make_model

GATEWAY = pathlib.Path(__file__).resolve().parent.parent / "support" / "rgw.sh"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATEST0000000000AA", "AWS_SECRET_ACCESS_KEY": "testsecrettestsecrettestsecrettestsecret"}

NOTHING = hashlib.sha256().hexdigest()


class S3(EndToEnd):
    """Publish, serve, fetch, verify, ls and remove."""

    def setUp(self):
        super().setUp()
        if not all(shutil.which(tool) for tool in ("ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "curl")):
            self.skipTest("S3 IS NOT TESTED: no Ceph here; run scripts/setup test")
        port, mon_port = free_port(), free_port()
        directory = tempfile.mkdtemp(prefix="shoal-rgw-")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.addCleanup(subprocess.run, [GATEWAY, "stop", directory], check=True)
        subprocess.run([GATEWAY, "start", directory, str(port), str(mon_port), str(os.getpid())], check=True)
        self.endpoint = f"http://127.0.0.1:{port}"
        self.ask("models", "-X", "PUT")
        self.env = {"AWS_ENDPOINT_URL": self.endpoint, **KEYS}
        self.cluster.s3 = "s3://models/shoal"
        before = {name: os.environ.get(name) for name in self.env}
        os.environ.update(self.env)
        self.addCleanup(self.restore, before)

    def ask(self, path, *how):
        """What the gateway answers to a request without a body."""
        command = ["curl", "-sf", *how, "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", ":".join(KEYS.values()), "-H", f"x-amz-content-sha256: {NOTHING}"]
        return subprocess.run([*command, f"{self.endpoint}/{path}"], check=True, capture_output=True, text=True).stdout

    @staticmethod
    def restore(before):
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})

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
        listing = self.ask("models?list-type=2")
        self.assertIn("<ListBucketResult", listing)
        self.assertNotIn("<Key>", listing)

    def test_wrong_keys_and_no_bucket_are_said(self):
        source = make_model(self.cluster.path("source"))
        publish = ("publish", source, "--model", "llama")
        self.assert_exit(self.cluster.seeder_command(*publish, store="s3://nothing/here"), 3, "store not found", "s3://nothing/here")
        os.environ["AWS_SECRET_ACCESS_KEY"] = "wrongwrongwrong"
        done = self.cluster.seeder_command(*publish)
        self.assert_exit(done, 4, "s3://models/shoal", "403")
        self.assertNotIn("wrongwrongwrong", done.err + done.out)
        os.environ["AWS_ENDPOINT_URL"] = "http://127.0.0.1:1"
        self.assert_exit(self.cluster.seeder_command(*publish, deadline=60), 7, "http://127.0.0.1:1")


if __name__ == "__main__":
    unittest.main()
