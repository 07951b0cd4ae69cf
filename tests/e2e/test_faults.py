"""Wrong bytes, trackers that fail, full disks, signals: a clear error, the right exit code, nothing lost."""
import contextlib
import http.server
import json
import os
import signal
import socket
import subprocess
import threading
import time
import unittest

from cluster import KIB, MIB, SEEDER, EndToEnd, Process, Server, blobs, counted, flip_byte, free_port, make_model, needs_root, wait_until, write

UNKNOWN = "sha256:" + "0" * 64


class WrongBytes(EndToEnd):
    """A store whose bytes are not what was published: exit 6, and nothing under a final name."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")

    def publish(self, *args):
        self.revision = self.cluster.publish(self.source, *args)
        self.hex = self.revision.removeprefix("sha256:")

    def fails_with_6(self, *words):
        self.cluster.start_servers()
        done = self.cluster.fetch(self.dest, "--timeout", "60s", revision=self.revision, deadline=70)
        self.assert_exit(done, 6, *words)
        self.assert_nothing_ready(self.dest)
        self.assertEqual(done.event("failed")["code"], 6)
        return done

    def test_a_flipped_byte_in_a_blob_withdraws_the_revision(self):
        self.publish()
        largest = blobs(self.cluster.store)[0]
        flip_byte(largest, MIB + 12345)
        done = self.fails_with_6("model-00001-of-00002.bin", largest.name, "expected", "found")
        self.assertLess(len(done.last), 1000)

    def test_a_blob_that_was_cut_withdraws_the_revision(self):
        self.publish()
        largest = blobs(self.cluster.store)[0]
        os.truncate(largest, largest.stat().st_size - 100)
        self.fails_with_6("model-00001-of-00002.bin", largest.name)

    def test_a_blob_that_is_gone_is_not_found(self):
        self.publish()
        largest = blobs(self.cluster.store)[0]
        largest.unlink()
        self.cluster.start_servers()
        done = self.cluster.fetch(self.dest, "--timeout", "60s", revision=self.revision, deadline=70)
        self.assert_exit(done, 3, "model-00001-of-00002.bin", largest.name)
        self.assert_nothing_ready(self.dest)

    def test_a_changed_manifest_is_refused(self):
        self.publish()
        path = self.cluster.store / f"manifests/{self.hex}.json"
        path.write_bytes(path.read_bytes().replace(b"config.json", b"confiG.json"))
        self.fails_with_6(self.hex)

    def test_a_changed_layer_is_refused(self):
        self.publish()
        flip_byte(self.cluster.store / f"layers/{self.hex}", 40)
        self.fails_with_6()

    def test_a_garbled_location_is_named(self):
        self.publish()
        write(self.cluster.store / f"locations/{self.hex}.json", b"garbage")
        self.fails_with_6(f"locations/{self.hex}.json", "expected", "'garbage'")

    def test_a_manifest_of_twenty_megabytes_is_named(self):
        self.publish()
        write(self.cluster.store / f"manifests/{self.hex}.json", bytes(20 * MIB))
        self.fails_with_6(f"manifests/{self.hex}.json", "expected", str(20 * MIB))

    def test_a_garbled_tag_is_named_and_hides_no_other(self):
        self.publish("--tag", "prod", "--tag", "bad")
        write(self.cluster.store / "models/llama/tags/bad", b"garbage")
        self.cluster.start_servers()
        done = self.cluster.fetch(self.dest, "--tag", "bad", "--timeout", "60s", deadline=70)
        self.assert_exit(done, 6, "models/llama/tags/bad", "expected", "'garbage'", ";")
        listed = self.cluster.seeder_command("ls")
        self.assert_exit(listed, 6, "models/llama/tags/bad")
        self.assertIn(f"{self.revision}  prod", listed.out)
        done = self.cluster.fetch(self.dest, "--tag", "prod")
        self.assertEqual(done.code, 0, done.err)

    def test_C14_an_indexed_file_that_was_overwritten_withdraws_the_revision(self):
        self.publish("--in-place")
        shard = self.source / "model-00001-of-00002.bin"
        write(shard, bytes(shard.stat().st_size))
        self.fails_with_6(shard.name)

    def test_C33_an_indexed_file_that_is_cut_while_it_is_served_withdraws_the_revision(self):
        self.publish("--in-place")
        seeder = self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "500KB/s", "--timeout", "60s", revision=self.revision)
        fetch.wait_for_event("progress", bytes=1)
        os.truncate(self.source / "model-00001-of-00002.bin", 1000)
        done = fetch.wait(70)
        self.assert_exit(done, 6, "model-00001-of-00002.bin")
        self.assertTrue(seeder.running())

    def test_other_revisions_are_served_on(self):
        self.publish()
        flip_byte(blobs(self.cluster.store)[0], 5)
        other = self.cluster.path("other")
        write(other / "fine.bin", 2 * MIB)
        fine = self.cluster.publish(other, model="fine")
        self.fails_with_6()
        done = self.cluster.fetch(self.cluster.path("dest2"), model="fine", revision=fine)
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(other, self.cluster.path("dest2"))

    def test_seeder_verify_names_the_file_and_both_digests(self):
        self.publish()
        self.assertEqual(self.cluster.seeder_command("verify", "llama", self.revision).code, 0)
        flip_byte(blobs(self.cluster.store)[0], MIB)
        done = self.cluster.seeder_command("verify", "llama", self.revision)
        self.assertEqual(done.code, 6, done.err)
        self.assertIn("model-00001-of-00002.bin", done.err)
        self.assertRegex(done.err + done.out, r"[0-9a-f]{64}")

    def test_a_withdrawn_revision_is_served_again_once_it_is_whole(self):
        self.publish()
        largest = blobs(self.cluster.store)[0]
        flip_byte(largest, 5)
        self.fails_with_6()
        flip_byte(largest, 5)
        wait_until(lambda: self.cluster.fetch(self.dest, revision=self.revision).code == 0, "the same seeder serves it", 60)
        self.assert_fetched(self.source, self.dest)


class StoreAway(EndToEnd):
    """The store's directory is gone while servers run: as with a lost mount."""

    def test_is_said_by_readyz_and_by_a_fetch_and_passes(self):
        revision = self.cluster.publish(make_model(self.cluster.path("source")))
        seeder = self.cluster.start_servers()
        tracker = self.cluster.current_tracker
        bases = {tracker: tracker.url, seeder: seeder.http}
        away = self.cluster.store.rename(self.cluster.path("away"))
        for server, base in bases.items():
            wait_until(lambda: server.get("/readyz", base)[0] == 503, "readyz is 503")
            self.assertIn(self.cluster.store_url.encode(), server.get("/readyz", base)[1].replace(b"\\/", b"/"))
        done = self.cluster.fetch(self.cluster.path("dest"), "--timeout", "3s", revision=revision)
        self.assert_exit(done, 7, "store is gone", self.cluster.store_url)
        away.rename(self.cluster.store)
        for server, base in bases.items():
            wait_until(lambda: server.get("/readyz", base)[0] == 200, "readyz is 200")
        done = self.cluster.fetch(self.cluster.path("dest"), revision=revision)
        self.assertEqual(done.code, 0, done.err)


class Unknown(EndToEnd):
    def setUp(self):
        super().setUp()
        self.revision = self.cluster.publish(write(self.cluster.path("source/a.bin"), 1000).parent, "--tag", "prod")
        self.cluster.start_servers()
        self.dest = self.cluster.path("dest")

    def test_an_unknown_revision(self):
        self.assert_exit(self.cluster.fetch(self.dest, revision=UNKNOWN), 3, UNKNOWN)
        self.assert_nothing_ready(self.dest)

    def test_an_unknown_model(self):
        self.assert_exit(self.cluster.fetch(self.dest, "--tag", "prod", model="unknown"), 3, "unknown")

    def test_an_unknown_tag(self):
        self.assert_exit(self.cluster.fetch(self.dest, "--tag", "staging"), 3, "staging")

    def test_a_revision_of_another_model(self):
        done = self.cluster.fetch(self.dest, model="other", revision=self.revision)
        self.assert_exit(done, 3, "other")


class ScriptedTracker:
    """An HTTP server that answers everything as told. One thread a connection; ends with the context."""

    def __init__(self, answer):
        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                length = int(self.headers.get("Content-Length") or 0)
                self.rfile.read(length)
                with contextlib.suppress(OSError):
                    answer(self)

            do_POST = do_GET

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.stopping = threading.Event()

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        return self

    def __exit__(self, *_):
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"


def reply(handler, body, length=None):
    handler.send_response(200)
    handler.send_header("Content-Type", "application/octet-stream")
    handler.send_header("Content-Length", str(len(body) if length is None else length))
    handler.end_headers()
    handler.wfile.write(body)


class TrackerFaults(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")

    def ends_with_7(self, tracker, *words, revision=UNKNOWN):
        started = time.monotonic()
        done = self.cluster.fetch(self.dest, "--timeout", "4s", revision=revision, tracker=tracker)
        self.assert_exit(done, 7, *words)
        self.assertLess(time.monotonic() - started, 10)
        self.assert_nothing_ready(self.dest)

    def test_an_absent_tracker_is_named(self):
        address = f"127.0.0.1:{free_port()}"
        self.ends_with_7(f"http://{address}", address)

    def test_C52_all_addresses_that_do_not_answer_are_named(self):
        one, two = f"127.0.0.1:{free_port()}", f"127.0.0.2:{free_port()}"
        self.ends_with_7(f"http://{one},http://{two}", one, two)

    def test_C52_a_name_that_does_not_resolve_is_named(self):
        self.ends_with_7("http://tracker.invalid:8080", "tracker.invalid")

    def test_a_tracker_that_accepts_and_says_nothing(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
            self.ends_with_7(f"http://127.0.0.1:{silent.getsockname()[1]}", "127.0.0.1")

    def test_a_tracker_that_answers_garbage(self):
        with ScriptedTracker(lambda handler: reply(handler, os.urandom(500))) as tracker:
            done = self.cluster.fetch(self.dest, "--timeout", "4s", revision=UNKNOWN, tracker=tracker.url)
        self.assertIn(done.code, (6, 7), done.err)  # bytes that are not the manifest
        self.assert_nothing_ready(self.dest)

    def test_a_tracker_that_does_not_speak_http(self):
        def garbage(handler):
            handler.wfile.write(b"\x00\xff" * 1000)

        with ScriptedTracker(garbage) as tracker:
            self.ends_with_7(tracker.url, "127.0.0.1")

    def test_a_tracker_that_answers_with_ten_megabytes(self):
        with ScriptedTracker(lambda handler: reply(handler, bytes(10 * MIB))) as tracker:
            done = self.cluster.fetch(self.dest, "--timeout", "4s", revision=UNKNOWN, tracker=tracker.url)
        self.assertIn(done.code, (6, 7), done.err)
        self.assert_nothing_ready(self.dest)

    def test_a_tracker_that_answers_one_byte_a_second(self):
        def drip(handler):
            reply(handler, b"", length=1000)
            while not tracker.stopping.wait(1):
                handler.wfile.write(b"x")
                handler.wfile.flush()

        with ScriptedTracker(drip) as tracker:
            self.ends_with_7(tracker.url, "127.0.0.1")

    def test_C81_a_tracker_that_answers_503_is_never_success(self):
        with ScriptedTracker(lambda handler: handler.send_error(503)) as tracker:
            self.ends_with_7(tracker.url, "127.0.0.1")

    def test_C81_broken_off_after_two_of_five_files_and_then_no_tracker_is_never_success(self):
        source = self.cluster.path("five")
        for i in range(5):
            write(source / f"model-{i}.bin", 2 * MIB)
        revision = self.cluster.publish(source)
        seeder = self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "3MB/s", revision=revision)
        fetch.wait_for_event("progress", bytes=4 * MIB)
        for process in (fetch, seeder, self.cluster.current_tracker):
            process.kill()
        with ScriptedTracker(lambda handler: handler.send_error(503)) as tracker:
            self.ends_with_7(tracker.url, "127.0.0.1", revision=revision)
        self.cluster.start_servers()
        done = self.cluster.fetch(self.dest, revision=revision)
        self.assertEqual(done.code, 0, done.err)
        self.assertGreaterEqual(done.event("ready")["reused"], 4 * MIB)
        self.assert_fetched(source, self.dest)

    def test_without_a_seeder_the_stall_is_said(self):
        revision = self.cluster.publish(self.source)
        self.cluster.start_tracker()
        done = self.cluster.fetch(self.dest, "--stall-timeout", "3s", revision=revision)
        self.assert_exit(done, 7, "llama")
        self.assert_nothing_ready(self.dest)

    def test_C52_one_of_two_trackers_is_enough(self):
        revision = self.cluster.publish(self.source)
        self.cluster.start_servers()
        dead = f"http://127.0.0.1:{free_port()}"
        done = self.cluster.fetch(self.dest, revision=revision, tracker=f"{dead},{self.cluster.current_tracker.url}")
        self.assertEqual(done.code, 0, done.err)
        self.assert_fetched(self.source, self.dest)

    def restarts_during_transfers(self, **how):
        """Six transfers, and a tracker that is killed and started anew as `how` says: it knows all within two beats, and nothing comes from the origin twice."""
        revision = self.cluster.publish(self.source)
        listen = f"127.0.0.1:{free_port()}"
        self.cluster.start_tracker("--beat", "1s", listen=listen)
        seeder = self.cluster.start_seeder()
        fetches = [self.cluster.start_fetch(self.cluster.path(f"d{i}"), "--download-limit", "500KB/s", revision=revision) for i in range(6)]
        for fetch in fetches:
            fetch.wait_for_event("progress", bytes=1)
        self.cluster.current_tracker.kill()
        tracker = self.cluster.start_tracker("--beat", "1s", listen=listen, **how)

        def status():
            return json.loads(tracker.get("/api/v1/status")[1])

        wait_until(lambda: status()["processes"] == 7 and status()["complete_picture"], lambda: f"all are known, within two beats and what a busy machine needs: {status()}", 2 + 2)
        for i, fetch in enumerate(fetches):
            done = fetch.wait(60)
            self.assertEqual(done.code, 0, done.err)
            self.assert_fetched(self.source, self.cluster.path(f"d{i}"))
        described = 64 * KIB  # manifest and layers are read, too
        self.assertLessEqual(counted(seeder, "shoal_origin_bytes_total"), done.event("ready")["bytes"] + described)

    def test_C35_killed_and_restarted_during_transfers(self):
        self.restarts_during_transfers()

    @needs_root
    def test_C36_restarted_on_an_empty_disk_with_its_clock_an_hour_ahead(self):
        ahead = ["unshare", "--time", "--monotonic", "3600", "--boottime", "3600", "--fork", "--kill-child"]
        if subprocess.run([*ahead, "true"], capture_output=True).returncode:
            self.skipTest("no time namespaces here")
        empty = self.cluster.path("empty")
        empty.mkdir()
        self.restarts_during_transfers(prefix=ahead, cwd=empty, env={"HOME": str(empty), "TMPDIR": str(empty)})
        self.assertEqual(list(empty.iterdir()), [])

    def test_a_transfer_ends_well_while_the_tracker_is_away(self):
        revision = self.cluster.publish(self.source)
        self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "2MB/s", revision=revision)
        fetch.wait_for_event("progress", bytes=1)
        self.cluster.current_tracker.kill()
        self.assertEqual(fetch.wait(60).code, 0, fetch.err)
        self.assert_fetched(self.source, self.dest)


class Signals(EndToEnd):
    """SIGTERM at any moment: five seconds at most, 143, state kept."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")
        self.revision = self.cluster.publish(self.source)

    def test_C51_while_transferring_and_the_state_is_kept(self):
        self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "1MB/s", revision=self.revision)
        fetch.wait_for_event("progress", bytes=2 * MIB)
        self.assertEqual(fetch.terminate().code, 143)
        self.assert_nothing_ready(self.dest)
        done = self.cluster.fetch(self.dest, revision=self.revision)
        self.assertGreaterEqual(done.event("ready")["reused"], 2 * MIB)
        self.assert_fetched(self.source, self.dest)

    def test_C51_while_no_source_is_there(self):
        self.cluster.start_tracker()
        fetch = self.cluster.start_fetch(self.dest, revision=self.revision)
        fetch.wait_for_event("resolved")
        self.assertEqual(fetch.terminate().code, 143)

    def test_C51_while_waiting_for_a_silent_tracker(self):
        with contextlib.closing(socket.create_server(("127.0.0.1", 0))) as silent:
            fetch = self.cluster.start_fetch(self.dest, revision=self.revision, tracker=f"http://127.0.0.1:{silent.getsockname()[1]}")
            connection, _ = silent.accept()
            self.addCleanup(connection.close)
            self.assertEqual(fetch.terminate().code, 143)

    def test_C51_while_waiting_for_another_fetch(self):
        self.cluster.start_servers()
        first = self.cluster.start_fetch(self.dest, "--download-limit", "500KB/s", revision=self.revision)
        first.wait_for_event("progress", bytes=1)
        second = self.cluster.start_fetch(self.dest, revision=self.revision)
        second.wait_for_event("resolved")
        self.assertEqual(second.terminate().code, 143)
        first.kill()

    def test_C51_while_lingering_the_fetch_was_a_success_or_was_ended(self):
        self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.dest, "--linger", "60s", revision=self.revision)
        fetch.wait_for_event("ready")
        self.assertIn(fetch.terminate().code, (0, 143))
        self.assert_fetched(self.source, self.dest)

    def test_interrupt_is_130(self):
        self.cluster.start_tracker()
        fetch = self.cluster.start_fetch(self.dest, revision=self.revision)
        fetch.wait_for_event("resolved")
        fetch.signal(signal.SIGINT)
        self.assertEqual(fetch.wait(5).code, 130)

    def test_publish_ends_with_143_and_leaves_no_half(self):
        store = self.cluster.path("store2")
        store.mkdir()
        command = [SEEDER, "publish", self.source, "--model", "llama", "--store", f"file://{store}", "--origin-limit", "500KB/s"]
        publish = self.cluster.start(Process, "publish", command)
        publish.wait_for(lambda: any(store.rglob("*")), "something is in the store")
        self.assertEqual(publish.terminate().code, 143)
        self.assertFalse(any(p.is_file() for folder in ("manifests", "models") for p in (store / folder).rglob("*")))

    def test_servers_end_with_0(self):
        seeder = self.cluster.start_servers()
        fetch = self.cluster.start_fetch(self.dest, "--download-limit", "1MB/s", revision=self.revision)
        fetch.wait_for_event("progress", bytes=1)
        self.assertEqual(seeder.terminate().code, 0)
        self.assertEqual(self.cluster.current_tracker.terminate().code, 0)
        fetch.kill()

    def test_a_seeder_without_a_tracker_ends_with_0(self):
        self.cluster.start_tracker().kill()
        command = [SEEDER, "serve", "--store", self.cluster.store_url, "--tracker", self.cluster.current_tracker.url, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        seeder = self.cluster.start(Server, "seeder", command)
        seeder.address()
        self.assertEqual(seeder.terminate().code, 0)


if __name__ == "__main__":
    unittest.main()
