"""What the servers say: addresses when ready, health, metrics, the JSON API, and who is who."""
import json
import os
import random
import unittest
import urllib.error
import urllib.parse
import urllib.request

from cluster import MIB, EndToEnd, make_model, tree, wait_until, write


class Servers(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")
        self.revision = self.cluster.publish(self.source, "--tag", "prod")
        self.seeder = self.cluster.start_servers()
        self.tracker = self.cluster.current_tracker

    def api(self, path):
        status, body = self.tracker.get("/api/v1/" + path)
        self.assertEqual(status, 200, body)
        return json.loads(body)

    def test_the_last_line_of_being_ready_is_the_first_listen_address(self):
        said = [line for line in self.seeder.err.splitlines() if "listening on" in line]
        self.assertTrue(said[0].startswith("http listening on 127.0.0.1:"), said)
        self.assertTrue(said[-1].startswith("listening on 127.0.0.1:"), said)

    def test_json_logs_leave_the_listening_lines_plain(self):
        tracker = self.cluster.start_tracker("--log-format", "json")
        self.assertRegex(tracker.address(), r"127\.0\.0\.1:\d+")
        for line in tracker.err.splitlines():
            self.assertTrue(line.startswith(("listening on ", "{")), line)

    def test_health_and_metrics(self):
        for path in ("/livez", "/readyz", "/metrics"):
            self.assertEqual(self.tracker.get(path)[0], 200, path)
            self.assertEqual(self.seeder.get(path, self.seeder.http)[0], 200, path)
        self.assertIn(b"shoal_build_info{", self.tracker.get("/metrics")[1])
        self.assertEqual(self.tracker.get("/no-such-page")[0], 404)

    def test_origin_bytes_are_counted(self):
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        metrics = self.seeder.get("/metrics", self.seeder.http)[1].decode()
        counted = sum(float(line.split()[-1]) for line in metrics.splitlines() if line.startswith("shoal_origin_bytes_total"))
        size = done.event("ready")["bytes"]
        self.assertGreaterEqual(counted, size)
        self.assertLess(counted, size * 1.1)

    def test_a_fetch_serves_metrics_where_told(self):
        fetch = self.cluster.start_fetch(self.dest, "--http", "127.0.0.1:0", "--linger", "60s", revision=self.revision)
        fetch.wait_for_event("ready")
        port = fetch.err.split("http listening on 127.0.0.1:")[1].split()[0]

        def body():
            status, text = self.tracker.get("/metrics", f"http://127.0.0.1:{port}")
            self.assertEqual(status, 200)
            return text

        wait_until(lambda: b"shoal_received_bytes_total{" in body(), "what was received is counted", 5)

    def test_the_manifest_comes_as_its_exact_bytes(self):
        hex_digits = self.revision[7:]
        self.assertEqual(self.tracker.get(f"/api/v1/revisions/{hex_digits}/manifest")[1], (self.cluster.store / f"manifests/{hex_digits}.json").read_bytes())
        self.assertEqual(self.tracker.get(f"/api/v1/revisions/{hex_digits}/layers")[1], (self.cluster.store / f"layers/{hex_digits}").read_bytes())
        status, body = self.tracker.get("/api/v1/revisions/" + "0" * 64 + "/manifest")
        self.assertEqual(status, 404)
        self.assertEqual(json.loads(body)["status"], 404)  # RFC 9457

    def test_models_are_listed_with_their_tags(self):
        name = "meta-llama/Llama-3.1-8B"
        other = self.cluster.publish(self.source, "--tag", "latest", model=name)
        self.assertIn(name, json.dumps(self.api("models")))
        self.assertIn(other, json.dumps(self.api("models/" + urllib.parse.quote(name, safe=""))))

    def test_nodes_show_who_holds_what(self):
        fetch = self.cluster.start_fetch(self.dest, "--linger", "60s", "--node", "worker-7", "--zone", "zone-b", revision=self.revision)
        fetch.wait_for_event("ready")
        wait_until(lambda: "worker-7" in json.dumps(self.api("nodes")), "the node is listed", 10)
        self.assertIn("zone-b", json.dumps(self.api("nodes")))
        for page in ("status", "transfers", "events"):
            self.api(page)

    def test_C38_two_fetches_on_one_node_are_told_apart(self):
        fetches = [self.cluster.start_fetch(self.cluster.path(f"d{i}"), "--linger", "60s", "--node", "worker-7", revision=self.revision) for i in range(2)]
        for fetch in fetches:
            fetch.wait_for_event("ready")

        def peers():
            return [peer for peer in find_all(self.api("nodes"), "peer") if isinstance(peer, str)]

        wait_until(lambda: len(set(peers())) >= 3, lambda: f"two peers and a seeder have ids of their own: {peers()}", 10)

    def test_a_restarted_tracker_knows_all_again(self):
        fetch = self.cluster.start_fetch(self.dest, "--linger", "60s", "--node", "worker-7", revision=self.revision)
        fetch.wait_for_event("ready")
        listen = self.tracker.address()
        self.tracker.kill()
        self.tracker = self.cluster.start_tracker("--beat", "1s", listen=listen)
        wait_until(lambda: "worker-7" in json.dumps(self.api("nodes")), "the peer is known again", 12)
        late = self.cluster.path("late")
        self.assertEqual(self.cluster.fetch(late, revision=self.revision).code, 0)
        self.assert_fetched(self.source, late)

    def test_a_revision_published_later_is_served_at_once(self):
        write(self.source / "config.json", b"{}")
        later = self.cluster.publish(self.source)
        self.assertEqual(self.cluster.fetch(self.dest, revision=later).code, 0)
        self.assert_fetched(self.source, self.dest)

    def test_a_beat_of_random_bytes_is_refused_and_harms_nobody(self):
        generator = random.Random(7)
        for size in (0, 1, 30, 4000):
            request = urllib.request.Request(self.tracker.url + "/control/v1/beat", data=generator.randbytes(size), headers={"Content-Type": "application/msgpack"})
            with self.assertRaises(urllib.error.HTTPError) as refused:
                urllib.request.urlopen(request, timeout=10)
            self.assertEqual(refused.exception.code, 400)
            refused.exception.close()
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)

    def test_two_seeders_serve_one_revision(self):
        self.cluster.start_seeder()
        self.assertEqual(self.cluster.fetch(self.dest, revision=self.revision).code, 0)
        self.assert_fetched(self.source, self.dest)

    def test_C22_an_upload_limit_holds_on_loopback(self):
        self.seeder.kill()
        self.cluster.start_seeder("--upload-limit", "2MB/s")
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertEqual(done.code, 0, done.err)
        self.assertGreater(done.event("ready")["seconds"], 1.2)  # 4 MiB at 2 MB/s, less what a bucket holds at first
        self.assertEqual(len(tree(self.dest)), 5)


class BrokenOff(EndToEnd):
    def test_C63_fetches_that_are_broken_off_leave_nothing_in_the_servers(self):
        revision = self.cluster.publish(make_model(self.cluster.path("source")))
        seeder = self.cluster.start_servers("--beat", "500ms")
        tracker = self.cluster.current_tracker

        def held():
            """Descriptors and threads of both servers, and files of the store."""
            counts = [len(os.listdir(f"/proc/{server.popen.pid}/{what}")) for server in (tracker, seeder) for what in ("fd", "task")]
            return (*counts, sum(1 for _ in self.cluster.store.rglob("*")))

        def alone():
            return json.loads(tracker.get("/api/v1/status")[1])["processes"] == 1

        self.assertEqual(self.cluster.fetch(self.cluster.path("dest"), "--linger", "0s", revision=revision).code, 0)
        wait_until(alone, "the seeder is alone")
        before = held()
        for round_ in range(2):
            fetches = [self.cluster.start_fetch(self.cluster.path(f"d{round_}-{i}"), "--download-limit", "500KB/s", revision=revision) for i in range(10)]
            for fetch in fetches:
                fetch.wait_for_event("progress", bytes=1)
            for i, fetch in enumerate(fetches):
                fetch.kill() if i % 4 == 0 else self.assertEqual(fetch.terminate().code, 143)
        wait_until(alone, "nobody is left but the seeder")
        wait_until(lambda: all(now <= then for now, then in zip(held(), before)), lambda: f"all is given back: {held()}, before {before}", 15)


def find_all(value, key):
    """All values of `key` in a JSON value, however deep."""
    if isinstance(value, dict):
        own = [value[key]] if key in value else []
        return own + [found for inner in value.values() for found in find_all(inner, key)]
    if isinstance(value, list):
        return [found for inner in value for found in find_all(inner, key)]
    return []


class Limits(EndToEnd):
    def test_a_download_limit_holds_on_loopback(self):
        source = write(self.cluster.path("source/a.bin"), 4 * MIB).parent
        revision = self.cluster.publish(source)
        self.cluster.start_servers()
        done = self.cluster.fetch(self.cluster.path("dest"), "--download-limit", "2MB/s", revision=revision)
        self.assertEqual(done.code, 0, done.err)
        self.assertGreater(done.event("ready")["seconds"], 1.2)


if __name__ == "__main__":
    unittest.main()
