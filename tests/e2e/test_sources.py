"""Sources that stay silent, fall silent, or restart: a transfer goes on within ten seconds, and says why where it cannot."""
import signal
import time
import unittest

from cluster import MIB, EndToEnd, counted, make_model
from source import Answering, Unreachable

REPLACED_WITHIN = 10  # seconds


class Silent(EndToEnd):
    """One source is there and sends nothing."""

    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.dest = self.cluster.path("dest")
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_tracker("--beat", "60s")  # so that it goes on naming whoever is silent

    def told(self, member):
        self.addCleanup(member.close)
        return member.tell(self.cluster.current_tracker, "llama", self.revision)

    def goes_on_from_a_seeder(self, relied_on):
        """A fetch that relies on the silent source is fed by a seeder that comes later."""
        fetch = self.cluster.start_fetch(self.dest, revision=self.revision)
        fetch.wait_for(relied_on, "it relies on the silent source")
        self.cluster.start_seeder()
        fetch.wait_for_event("ready", REPLACED_WITHIN)
        self.assert_fetched(self.source, self.dest)

    def says_what_happened(self, *words):
        done = self.cluster.fetch(self.dest, "--stall-timeout", "2s", revision=self.revision)
        self.assert_exit(done, 7, "llama", self.revision, *words)
        self.assert_nothing_ready(self.dest)

    def test_C24_one_that_accepts_and_says_nothing(self):
        source = self.told(Answering(talks=False))
        self.goes_on_from_a_seeder(lambda: source.connections)

    def test_C24_one_that_says_it_has_everything_and_sends_nothing(self):
        source = self.told(Answering(talks=True))
        self.goes_on_from_a_seeder(lambda: source.requests)

    def test_C24_one_whose_SYNs_are_dropped(self):
        source = self.told(Unreachable())
        self.goes_on_from_a_seeder(source.dialled)

    def test_C24_if_it_is_the_only_one_the_error_says_what_it_does(self):
        for source, words in ((Answering(talks=False), "does not answer"), (Answering(talks=True), "sends nothing"), (Unreachable(), "does not answer")):
            with self.subTest(words=words, kind=type(source).__name__):
                self.told(source)
                self.says_what_happened(words, f"127.0.0.1:{source.port}")
                self.forget(source)

    def forget(self, source):
        """Another tracker, which has not heard of it."""
        source.close()
        self.cluster.current_tracker.kill()
        self.cluster.start_tracker("--beat", "60s")


class Restarts(EndToEnd):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"), weights=16 * MIB)
        self.revision = self.cluster.publish(self.source)

    def fetches(self, count, *args):
        return [self.cluster.start_fetch(self.cluster.path(f"dest{i}"), *args, revision=self.revision) for i in range(count)]

    def test_C24_one_that_falls_silent_half_way(self):
        """A peer, stopped while it sends: its kernel goes on acknowledging."""
        self.source = make_model(self.cluster.path("larger"), weights=32 * MIB)
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_tracker("--beat", "60s")
        seeder = self.cluster.start_seeder()
        holder = self.cluster.start_fetch(self.cluster.path("holder"), "--linger", "300s", revision=self.revision)
        [fetch] = self.fetches(1, "--download-limit", "3MB/s")
        fetch.wait_for_event("progress", from_peers=1)
        holder.wait_for_event("ready")
        seeder.kill()
        fetch.wait_for_event("progress", from_peers=fetch.done().event("progress")["from_peers"] + MIB)
        holder.signal(signal.SIGSTOP)
        self.cluster.start_seeder()
        fetch.wait_for_event("ready", REPLACED_WITHIN + 12)  # and what is left at 3 MB/s
        self.assert_fetched(self.source, self.cluster.path("dest0"))

    def test_C28_a_seeder_that_is_killed_and_restarted(self):
        seeder = self.cluster.start_servers()
        fetches = self.fetches(3, "--download-limit", "3MB/s")
        for fetch in fetches:
            fetch.wait_for_event("progress", bytes=6 * MIB)
        first = counted(seeder, "shoal_origin_bytes_total")
        seeder.kill()
        killed = time.monotonic()
        at_kill = [last_progress(fetch) for fetch in fetches]
        seeder = self.cluster.start_seeder()
        for fetch, before in zip(fetches, at_kill):
            fetch.wait_for_event("progress", killed + REPLACED_WITHIN - time.monotonic(), bytes=before + MIB)
        for i, fetch in enumerate(fetches):
            self.assertEqual(fetch.wait(60).code, 0, fetch.err)
            self.assert_fetched(self.source, self.cluster.path(f"dest{i}"))
        # Pieces of 1 MiB: each fetch may have had some under way, which the dead seeder had sent in part.
        size = fetches[0].done().event("ready")["bytes"]
        self.assertLessEqual(counted(seeder, "shoal_origin_bytes_total"), size - max(at_kill) + 3 * MIB, f"the first one had read {first}, the fetches had {at_kill}")


def last_progress(fetch):
    return fetch.done().event("progress")["bytes"]


if __name__ == "__main__":
    unittest.main()
