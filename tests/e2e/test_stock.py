"""C31: a stock BitTorrent v2 client in a swarm, where it is allowed, and where it is not."""
import pathlib
import sys
import unittest

from cluster import MIB, EndToEnd, make_model, tree, wait_until, write

sys.path.append(str(pathlib.Path(__file__).resolve().parent.parent / "bench"))
from measure import NO_MEMORY_GROUPS, MemoryGroup, can_limit_memory, make_file  # noqa: E402

try:
    import libtorrent
except ImportError:
    libtorrent = None


class WithClients(EndToEnd):
    def client(self, torrent, *, peers=(), tracker=None, flags=None):
        """A session of the stock library that has the torrent below self.save; ended with the test."""
        session = libtorrent.session({"listen_interfaces": "127.0.0.1:0", "enable_dht": False, "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False,
                                      "enable_outgoing_utp": False, "allow_multiple_connections_per_ip": True, "alert_mask": libtorrent.alert.category_t.all_categories})
        self.addCleanup(session.pause)
        info = libtorrent.torrent_info(torrent)
        if tracker:
            info.add_tracker(tracker)
        handle = session.add_torrent({"ti": info, "save_path": str(self.save), **({"flags": flags} if flags is not None else {})})
        for host, port in peers:
            handle.connect_peer((host, port))
        return session, handle

    def torrent(self):
        status, body = self.cluster.current_tracker.get(f"/api/v1/revisions/{self.revision[7:]}/torrent")
        self.assertEqual(status, 200, body)
        return libtorrent.bdecode(body)


@unittest.skipUnless(libtorrent, "python3-libtorrent is not installed")
class StockClient(WithClients):
    def setUp(self):
        super().setUp()
        self.source = make_model(self.cluster.path("source"))
        self.revision = self.cluster.publish(self.source)
        self.save = self.cluster.path("stock")
        self.save.mkdir()

    def watch(self, session, until, deadline):
        """Until some alert makes `until`, which looks at its type alone, true."""
        def heard():
            # Not wait_for_alert(): the alert that it names moves when more of them come, and looking at it then is a crash.
            return any(map(until, session.pop_alerts()))

        wait_until(heard, "the stock client never says what it should", deadline)

    def swarm_files(self):
        """What lies below the torrent's own folder."""
        return tree(self.save / self.revision[7:])

    def test_C31_gets_every_file_where_it_is_allowed(self):
        for i in range(300):
            write(self.source / f"adapters/part-{i:03}.bin", 100 + i)
        self.revision = self.cluster.publish(self.source)
        self.cluster.start_servers("--allow-stock-clients")
        tracker = self.cluster.current_tracker
        session, handle = self.client(self.torrent(), tracker=tracker.url + "/announce")
        self.watch(session, lambda alert: isinstance(alert, libtorrent.torrent_finished_alert), 30)
        self.assertTrue(handle.status().is_seeding, [str(e) for e in handle.trackers()])
        expected = tree(self.source)
        got = self.swarm_files()
        for path in (b"model-00001-of-00002.bin", b"model-00002-of-00002.bin"):
            self.assertEqual(got[path], expected[path])
        pack = (self.save / self.revision[7:] / ".shoal/pack-00000").read_bytes()
        small = sorted(path for path in expected if path not in got)
        self.assertEqual(pack, b"".join((self.source / path.decode()).read_bytes() for path in small))

    def test_C31_one_that_announced_before_any_seeder_was_there_is_fed_when_one_comes(self):
        self.cluster.start_tracker("--allow-stock-clients")
        session, handle = self.client(self.torrent(), tracker=self.cluster.current_tracker.url + "/announce")
        self.watch(session, lambda alert: isinstance(alert, libtorrent.tracker_reply_alert), 10)
        self.cluster.start_seeder()
        self.watch(session, lambda alert: isinstance(alert, libtorrent.torrent_finished_alert), 10)
        self.assertTrue(handle.status().is_seeding, [str(e) for e in handle.trackers()])

    def test_C31_gets_no_byte_where_it_is_not_allowed(self):
        self.cluster.start_servers("--allow-stock-clients")
        torrent = self.torrent()
        for server in self.cluster.processes:
            if server.running():
                server.kill()
        seeder = self.cluster.start_servers()
        tracker = self.cluster.current_tracker
        self.assertEqual(tracker.get(f"/api/v1/revisions/{self.revision[7:]}/torrent")[0], 403)
        self.assertEqual(tracker.get("/announce?info_hash=x")[0], 403)
        member = self.cluster.start_fetch(self.cluster.path("dest"), "--download-limit", "1MB/s", "--linger", "0s", revision=self.revision)
        member.wait_for_event("progress", bytes=1)
        host, port = seeder.address().split(":")
        session, handle = self.client(torrent, peers=[(host, int(port))])
        self.watch(session, lambda alert: isinstance(alert, libtorrent.peer_disconnected_alert), 15)  # the stranger is hung up on
        self.assertEqual(handle.status().total_payload_download, 0)
        self.assertEqual(member.wait().code, 0)
        self.assert_fetched(self.source, self.cluster.path("dest"))


@unittest.skipUnless(libtorrent, "python3-libtorrent is not installed")
@unittest.skipUnless(can_limit_memory(), NO_MEMORY_GROUPS)
class ManySources(WithClients):
    """Each sends another piece, slowly, to a fetch that may have less memory than all these pieces are."""

    SOURCES, PIECE, LIMIT = 24, 16 * MIB, 256 * MIB

    def setUp(self):
        self.group = MemoryGroup("e2e-many-sources", self.LIMIT)
        self.addCleanup(self.group.remove)  # after the processes in it
        super().setUp()
        self.source = make_file(self.cluster.path("source/weights.bin"), self.SOURCES * self.PIECE).parent
        self.revision = self.cluster.publish(self.source, "--in-place", "--piece-size", "16MiB")
        self.save = self.source  # a torrent of one file has no folder

    def test_C74_many_slow_sources_of_large_pieces_under_a_memory_limit(self):
        self.cluster.start_tracker("--allow-stock-clients")
        torrent = self.torrent()
        for _ in range(self.SOURCES):
            session, handle = self.client(torrent, tracker=self.cluster.current_tracker.url + "/announce", flags=libtorrent.torrent_flags.seed_mode)
            handle.set_upload_limit(2_000_000)
        dest = self.cluster.path("dest")
        done = self.cluster.fetch(dest, prefix=self.group.prefix(), revision=self.revision, deadline=90)
        self.assertEqual(done.code, 0, done.err)
        self.assertEqual(self.group.kills(), 0)
        self.assertGreater(max(event["rate"] for event in done.events if event["event"] == "progress"), 16_000_000)  # many sent at once
        self.assert_fetched(self.source, dest)


if __name__ == "__main__":
    unittest.main()
