"""The tracker's ceiling on reads of the object store holds for all seeders together."""
import time
import unittest

from cluster import MIB, EndToEnd, counted, make_model, wait_until

LIMIT = 20 * 10**6  # bytes a second


class OriginLimit(EndToEnd):
    def setUp(self):
        super().setUp()
        self.revision = self.cluster.publish(make_model(self.cluster.path("source"), weights=160 * MIB))
        self.samples = []

    def watch(self, seeders):
        """(before it was asked, after it, bytes read by all)"""
        before = time.monotonic()
        read = sum(counted(seeder, "shoal_origin_bytes_total") for seeder in seeders)
        self.samples.append((before, time.monotonic(), read))
        return read

    def fastest_second(self):
        """Bytes a second in the shortest spans of a second and more, at least: what is read while it is asked counts for neither side."""
        fastest = 0
        for i, (begin, _, before) in enumerate(self.samples):
            later = next(((end, after) for _, end, after in self.samples[i:] if end - begin >= 1), None)
            if later:
                fastest = max(fastest, (later[1] - before) / (later[0] - begin))
        return fastest

    def test_holds_while_a_second_seeder_joins(self):
        self.cluster.start_tracker("--origin-limit", "20MB/s")
        seeders = [self.cluster.start_seeder()]
        fetches = [self.cluster.start_fetch(self.cluster.path(f"dest{i}"), revision=self.revision) for i in range(3)]
        wait_until(lambda: self.watch(seeders) > 40 * MIB, "a quarter is read", 30)
        seeders.append(self.cluster.start_seeder())
        for fetch in fetches:
            wait_until(lambda fetch=fetch: self.watch(seeders) and not fetch.running(), "all is fetched", 60)
            self.assertEqual(fetch.wait().code, 0, fetch.err)
        self.assertGreater(counted(seeders[1], "shoal_origin_bytes_total"), 20 * MIB)
        self.assertLess(self.fastest_second(), 1.05 * LIMIT)

    def test_a_tracker_that_restarts_stalls_nothing_and_lets_nobody_read_faster(self):
        tracker = self.cluster.start_tracker("--origin-limit", "20MB/s")
        seeders = [self.cluster.start_seeder(), self.cluster.start_seeder()]
        fetch = self.cluster.start_fetch(self.cluster.path("dest"), revision=self.revision)
        wait_until(lambda: self.watch(seeders) > 40 * MIB, "a quarter is read", 30)
        address = tracker.address()
        tracker.kill()
        self.cluster.start_tracker("--origin-limit", "20MB/s", listen=address)
        before = self.watch(seeders)
        wait_until(lambda: self.watch(seeders) > before + 20 * MIB, "it goes on", 8)
        wait_until(lambda: self.watch(seeders) and not fetch.running(), "it is fetched", 60)
        self.assertEqual(fetch.wait().code, 0, fetch.err)
        self.assertLess(self.fastest_second(), 1.05 * LIMIT)


if __name__ == "__main__":
    unittest.main()
