"""A real S3 gateway as the object store, one for all tests of a class, and a bucket for each test."""
import hashlib
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import unittest.mock
import urllib.parse

from cluster import EndToEnd

SCRIPT = pathlib.Path(__file__).resolve().parent.parent / "support" / "rgw.sh"
KEYS = {"AWS_ACCESS_KEY_ID": "AKIATEST0000000000AA", "AWS_SECRET_ACCESS_KEY": "testsecrettestsecrettestsecrettestsecret"}
TOOLS = ("ceph", "ceph-mon", "ceph-osd", "radosgw", "radosgw-admin", "curl", "openssl")


class OnS3(EndToEnd):
    """The cluster's store is s3://<bucket>/shoal."""

    buckets = 0

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if not all(shutil.which(tool) for tool in TOOLS):
            raise unittest.SkipTest("S3 IS NOT TESTED: no Ceph here; run scripts/setup test")
        cls.gateway = pathlib.Path(tempfile.mkdtemp(prefix="shoal-rgw-"))
        cls.addClassCleanup(shutil.rmtree, cls.gateway, ignore_errors=True)
        cls.addClassCleanup(subprocess.run, [SCRIPT, "stop", cls.gateway], check=True)
        subprocess.run([SCRIPT, "start", cls.gateway, str(os.getpid())], check=True)
        cls.endpoint, cls.tls_endpoint = ((cls.gateway / name).read_text().strip() for name in ("endpoint", "tls-endpoint"))

    def setUp(self):
        super().setUp()
        OnS3.buckets += 1
        self.bucket = f"bucket-{OnS3.buckets}"
        self.ask(self.bucket, "-X", "PUT")
        self.cluster.s3 = f"s3://{self.bucket}/shoal"
        here = unittest.mock.patch.dict(os.environ, {"AWS_ENDPOINT_URL": self.endpoint, **KEYS})
        here.start()
        self.addCleanup(here.stop)

    @staticmethod
    def curl(*how):
        command = ["curl", "-sf", "--aws-sigv4", "aws:amz:us-east-1:s3", "-u", ":".join(KEYS.values()), *how]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def ask(self, path, *how, body=""):
        """What the gateway answers."""
        sent = ["--data-binary", body] if body else []
        digest = hashlib.sha256(body.encode()).hexdigest()
        return self.curl(*how, *sent, "-H", f"x-amz-content-sha256: {digest}", f"{self.endpoint}/{path}")

    def url_of(self, key):
        return f"{self.endpoint}/{self.bucket}/{urllib.parse.quote(key, safe='/~')}"

    def put_empty(self, key):
        self.ask(f"{self.bucket}/{urllib.parse.quote(key)}", "-X", "PUT", "-H", "content-length: 0")

    def put(self, key, content):
        """`content` as the object of that key."""
        path = self.cluster.path("body")
        path.write_bytes(content)
        self.upload({key: path})

    def upload(self, files):
        """Each key's object from a file, many at once."""
        quoted = {key: str(path).replace("\\", "\\\\").replace('"', '\\"') for key, path in files.items()}
        config = self.cluster.path("uploads")
        config.write_text("".join(f'upload-file = "{path}"\nurl = "{self.url_of(key)}"\n' for key, path in quoted.items()))
        self.curl("--globoff", "--path-as-is", "-Z", "--parallel-max", "8", "-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD", "-K", config)

    def upload_tree(self, directory, prefix):
        self.upload({f"{prefix}{path.relative_to(directory)}": path for path in pathlib.Path(directory).rglob("*") if path.is_file()})

    def delete(self, key):
        self.ask(f"{self.bucket}/{urllib.parse.quote(key)}", "-X", "DELETE")

    def keys(self, prefix=""):
        listing = self.ask(f"{self.bucket}?list-type=2&prefix={urllib.parse.quote(prefix, safe='')}")
        return re.findall(r"<Key>(.*?)</Key>", listing)

    def uploads(self):
        """The keys of all uploads in parts that were begun and not ended."""
        return re.findall(r"<Key>(.*?)</Key>", self.ask(f"{self.bucket}?uploads="))

    def reads(self, prefix):
        """How many bytes the gateway answered to each GET of a key with that beginning, by its own log."""
        log = (self.gateway / "log" / "client.rgw.a.log").read_text(errors="replace")
        path = re.escape(urllib.parse.quote(f"/{self.bucket}/{prefix}"))
        return [int(size) for size in re.findall(rf'"GET {path}\S* HTTP/1.1" 20[06] (\d+)', log)]
