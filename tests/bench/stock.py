#!/usr/bin/env python3
"""The rival: stock libtorrent as its users run it (seed_mode, its own disk backend), uTP off as Shoal has it.

usage: stock.py make FILE TORRENT PIECE_SIZE
       stock.py host TORRENT DIR HOST:PORT seed|super|leech HOST:PORT...      one of a swarm: prints "ready" when it has all, and at SIGTERM how many bytes it sent
"""
import os
import signal
import sys
import threading

import libtorrent

SETTINGS = {"enable_dht": False, "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False,
            "enable_incoming_utp": False, "enable_outgoing_utp": False, "allow_multiple_connections_per_ip": True}


def make(file, torrent, piece_size):
    files = libtorrent.file_storage()
    libtorrent.add_files(files, file)
    creator = libtorrent.create_torrent(files, int(piece_size), libtorrent.create_torrent.v2_only)
    libtorrent.set_piece_hashes(creator, os.path.dirname(file))
    with open(torrent, "wb") as out:
        out.write(libtorrent.bencode(creator.generate()))


def host(torrent, directory, listen, role, *others):
    session = libtorrent.session({**SETTINGS, "listen_interfaces": listen})
    flags = {"seed": libtorrent.torrent_flags.seed_mode, "leech": 0,
             "super": libtorrent.torrent_flags.seed_mode | libtorrent.torrent_flags.super_seeding}[role]
    heard = threading.Event()
    session.set_alert_notify(heard.set)
    handle = session.add_torrent({"ti": libtorrent.torrent_info(torrent), "save_path": directory, "flags": flags})
    for other in others:
        address, port = other.split(":")
        handle.connect_peer((address, int(port)))
    while not handle.status().is_seeding:
        heard.wait(0.05)
        heard.clear()
        session.pop_alerts()
    print("ready", flush=True)
    signal.sigwait({signal.SIGTERM})
    print(handle.status().total_payload_upload, flush=True)
    os._exit(0)


if __name__ == "__main__":
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    {"make": make, "host": host}[sys.argv[1]](*sys.argv[2:])
