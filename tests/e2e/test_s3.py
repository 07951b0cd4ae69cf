"""A bucket of a real S3 gateway in the directory's place."""
import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from cluster import MIB, EndToEnd, counted, free_port, make_model

GATEWAY = pathlib.Path(__file__).resolve().parent.parent / "support" / "rgw.sh"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATEST0000000000AA", "AWS_SECRET_ACCESS_KEY": "testsecrettestsecrettestsecrettestsecret"}



class S3(EndToEnd):
    """Publish, serve, fetch, verify, ls and remove."""

    def setUp(self):
        super().setUp()
        if not all(shutil.which(tool) for tool in ("ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "curl")):
            self.skipTest("S3 IS NOT TESTED: no Ceph here; run scripts/setup test")
        port, self.mon_port = free_port(), free_port()
        self.gateway = directory = tempfile.mkdtemp(prefix="shoal-rgw-")
        self.addCleanup(shutil.rmtree, directory, ignore_errors=True)
        self.addCleanup(subprocess.run, [GATEWAY, "stop", directory], check=True)
        subprocess.run([GATEWAY, "start", directory, str(port), str(self.mon_port), str(os.getpid())], check=True)
        self.endpoint = f"http://127.0.0.1:{port}"
        self.ask("models", "-X", "PUT")
        self.env = {"AWS_ENDPOINT_URL": self.endpoint, **KEYS}
        self.cluster.s3 = "s3://models/shoal"
        before = {name: os.environ.get(name) for name in self.env}
        os.environ.update(self.env)
        self.addCleanup(self.restore, before)

    def ask(self, path, *how, body=""):
        """What the gateway answers."""
        digest = hashlib.sha256(body.encode()).hexdigest()
        sent = ["--data-binary", body] if body else []
        command = ["curl", "-sf", *how, *sent, "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", ":".join(KEYS.values()), "-H", f"x-amz-content-sha256: {digest}"]
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

    def test_an_endpoint_of_another_name_or_authority_is_not_trusted(self):
        source = make_model(self.cluster.path("source"))
        publish = ("publish", source, "--model", "llama")
        trusting = {"AWS_CA_BUNDLE": f"{self.gateway}/certificate.pem"}
        port = self.mon_port + 2
        os.environ["AWS_ENDPOINT_URL"] = f"https://localhost:{port}"
        self.assert_exit(self.cluster.seeder_command(*publish), 4, "not trusted", f"https://localhost:{port}", "AWS_CA_BUNDLE")
        self.assert_exit(self.cluster.seeder_command(*publish, env=trusting), 0)
        os.environ["AWS_ENDPOINT_URL"] = f"https://127.0.0.1:{port}"
        self.assert_exit(self.cluster.seeder_command(*publish, env=trusting), 4, "not trusted", f"https://127.0.0.1:{port}")

    def test_one_key_that_may_not_be_read_is_named(self):
        revision = self.cluster.publish(make_model(self.cluster.path("source")))
        keys = [part.split("</Key>")[0] for part in self.ask("models?list-type=2&prefix=shoal%2Fblobs%2F").split("<Key>")[1:]]
        deny = {"Effect": "Deny", "Principal": "*", "Action": "s3:GetObject", "Resource": f"arn:aws:s3:::models/{keys[0]}"}
        self.ask("models?policy=", "-X", "PUT", body=json.dumps({"Version": "2012-10-17", "Statement": [deny]}))
        self.assert_exit(self.cluster.seeder_command("verify", "llama", revision), 4, keys[0].removeprefix("shoal/"), "403")


if __name__ == "__main__":
    unittest.main()
