"""Tracker and seeders gone: peers finish by what they hold together, and read the store themselves where that is allowed."""

from cluster import KIB, MIB, EndToEnd, blobs, counted, flip_byte, make_model, write
from gateway import OnS3

SOON = ("--stall-timeout", "6s")  # the swarm is waited for a sixth of it, and up to as long again


def size_of(directory):
    return sum(path.stat().st_size for path in directory.rglob("*") if path.is_file())


class Together(EndToEnd):
    """No fallback: what connected peers hold is enough."""

    def test_peers_that_hold_all_only_together_finish_without_tracker_and_seeder(self):
        source = make_model(self.cluster.path("source"), weights=24 * MIB)
        revision = self.cluster.publish(source)
        seeder = self.cluster.start_servers()
        for name, what in ("one", ("--include", "model-00001*")), ("other", ("--exclude", "model-00001*")):
            self.cluster.start_fetch(self.cluster.path(name), "--linger", "60s", *what, revision=revision).wait_for_event("ready")
        late = [self.cluster.start_fetch(self.cluster.path(f"late{i}"), "--download-limit", "6MB/s", revision=revision) for i in range(2)]
        for fetch in late:
            fetch.wait_for_event("progress", bytes=1)
        self.cluster.current_tracker.kill()
        seeder.kill()
        for i, fetch in enumerate(late):
            self.assert_exit(fetch.wait(), 0)
            self.assert_fetched(source, self.cluster.path(f"late{i}"))


class Fallback(EndToEnd):
    """With --allow-origin-fallback --store URL."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")

    def start(self, dest=None, *args, patience=SOON, **what):
        return self.cluster.start_fetch(dest or self.dest, "--allow-origin-fallback", "--store", self.cluster.store_url, *patience, *args, **what)

    def fetch(self, dest=None, *args, **what):
        return self.start(dest, *args, **what).wait()

    def began(self, done):
        return done.err.count("reading the store itself")

    def comes_from_the_store_alone(self, done):
        self.assert_exit(done, 0)
        self.assert_fetched(self.source, self.dest)
        ready = done.event("ready")
        self.assertEqual((ready["from_origin"], ready["from_peers"]), (size_of(self.source), 0))
        self.assertEqual((self.began(done), done.err.count("reading the store no longer")), (1, 1))

    def test_a_tag_is_found_and_fetched_where_there_never_was_a_tracker(self):
        revision = self.cluster.publish(self.source, "--tag", "prod")
        done = self.fetch(None, "--tag", "prod")
        self.comes_from_the_store_alone(done)
        self.assertEqual(done.event("resolved")["revision"], revision)

    def test_small_files_indexed_in_place_come_from_the_store(self):
        for i in range(400):
            write(self.source / f"part/{i:03}", 5 * KIB + i)
        self.comes_from_the_store_alone(self.fetch(revision=self.cluster.publish(self.source, "--in-place")))

    def test_a_tracker_that_knows_no_seeder_is_not_waited_for(self):
        revision = self.cluster.publish(self.source)
        self.cluster.start_tracker()
        self.comes_from_the_store_alone(self.fetch(revision=revision))

    def test_three_peers_that_lose_all_in_the_middle_read_the_rest_once(self):
        self.source = make_model(self.cluster.path("large"), weights=64 * MIB)
        revision = self.cluster.publish(self.source)
        self.cluster.start_tracker()
        seeder = self.cluster.start_seeder("--upload-limit", "8MB/s")
        dests = [self.cluster.path(f"dest{i}") for i in range(3)]
        # Of 36 s a peer waits 1.2 s for what another reads before it reads that too: a busy machine does not make it look dead. And who reads a disk that is faster
        # than the swarm stays until the others have it from there.
        patient = ("--stall-timeout", "36s", "--linger", "60s")
        peers = [self.start(dest, patience=patient, revision=revision) for dest in dests]
        for peer in peers:
            peer.wait_for_event("progress", bytes=4 * MIB)
        self.cluster.current_tracker.kill()
        seeder.kill()
        ready = [peer.wait_for_event("ready", 60) for peer in peers]
        for dest in dests:
            self.assert_fetched(self.source, dest)
        self.assertTrue(any(self.began(peer.done()) for peer in peers))
        self.assertLess(sum(one["from_origin"] for one in ready), 1.1 * size_of(self.source), "origin copies, those of the seeder among them")

    def test_a_seeder_that_comes_ends_the_reading(self):
        self.source = make_model(self.cluster.path("large"), weights=24 * MIB)
        revision = self.cluster.publish(self.source)
        self.cluster.start_tracker()
        fetch = self.start(None, "--download-limit", "4MB/s", revision=revision)
        fetch.wait_for_event("progress", bytes=1)
        self.assertEqual(self.began(fetch.done()), 1)
        seeder = self.cluster.start_seeder()
        fetch.wait_for(lambda: "the swarm gives again" in fetch.err, "the end of the reading")
        self.assert_exit(fetch.wait(), 0)
        self.assert_fetched(self.source, self.dest)
        self.assertGreater(counted(seeder, "shoal_sent_bytes_total"), MIB)

    def test_where_the_swarm_gives_the_store_is_left_alone(self):
        revision = self.cluster.publish(self.source)
        self.cluster.start_servers()
        done = self.fetch(revision=revision)
        self.assert_exit(done, 0)
        self.assertEqual(self.began(done), 0)

    def test_without_the_flag_the_store_is_never_read(self):
        revision = self.cluster.publish(self.source)
        self.cluster.start_tracker()
        done = self.cluster.fetch(self.dest, *SOON, revision=revision)
        self.assert_exit(done, 7)
        self.assert_nothing_ready(self.dest)
        self.assertEqual(self.began(done), 0)

    def test_the_flag_and_the_store_go_together(self):
        revision = self.cluster.publish(self.source)
        self.assert_exit(self.cluster.fetch(self.dest, "--allow-origin-fallback", revision=revision), 2, "--store")
        self.assert_exit(self.cluster.fetch(self.dest, "--store", self.cluster.store_url, revision=revision), 2, "--allow-origin-fallback")
        self.assert_exit(self.cluster.fetch(self.dest, "--allow-origin-fallback", "--store", "ftp://x", revision=revision), 2, "ftp://x")

    def test_a_flipped_byte_in_the_store_ends_it_by_name(self):
        revision = self.cluster.publish(self.source)
        largest = blobs(self.cluster.store)[0]
        flip_byte(largest, MIB + 12345)
        self.assert_exit(self.fetch(revision=revision), 6, "model-00001-of-00002.bin", largest.name, "expected", "found")
        self.assert_nothing_ready(self.dest)

    def test_a_blob_that_is_gone_is_not_found(self):
        revision = self.cluster.publish(self.source)
        largest = blobs(self.cluster.store)[0]
        largest.unlink()
        self.assert_exit(self.fetch(revision=revision), 3, "model-00001-of-00002.bin", largest.name)
        self.assert_nothing_ready(self.dest)

    def test_a_store_that_is_not_there_and_a_tag_that_is_unknown_are_not_found(self):
        self.cluster.publish(self.source)
        self.assert_exit(self.fetch(None, "--tag", "prod"), 3, "prod")
        self.cluster.store.rename(self.cluster.path("elsewhere"))
        self.assert_exit(self.fetch(None, "--tag", "prod"), 3, self.cluster.store_url)

    def test_a_store_that_is_away_for_a_while_is_waited_for(self):
        self.source = make_model(self.cluster.path("large"), weights=24 * MIB)
        revision = self.cluster.publish(self.source)
        fetch = self.start(None, "--download-limit", "4MB/s", revision=revision)
        fetch.wait_for_event("progress", bytes=1)
        away = self.cluster.store.rename(self.cluster.path("away"))
        fetch.wait_for(lambda: "cannot read the store; trying again" in fetch.err, "the store missed")
        away.rename(self.cluster.store)
        self.comes_from_the_store_alone(fetch.wait())


class FallbackOnS3(OnS3):
    def test_a_bucket_is_read_where_there_is_no_tracker(self):
        source = make_model(self.cluster.path("source"), weights=24 * MIB)
        self.cluster.publish(source, "--tag", "prod")
        dest = self.cluster.path("dest")
        done = self.cluster.fetch(dest, "--tag", "prod", "--allow-origin-fallback", "--store", self.cluster.store_url, *SOON)
        self.assert_exit(done, 0)
        self.assert_fetched(source, dest)
        self.assertEqual(done.event("ready")["from_origin"], size_of(source))
