#!/usr/bin/env python3
"""The rival: stock libtorrent as its users run it (seed_mode, its own disk backend), uTP off as Shoal has it.

usage: stock.py make FILE TORRENT PIECE_SIZE | stock.py seed TORRENT DIR PORT_FILE | stock.py leech TORRENT DIR HOST:PORT
       stock.py host TORRENT DIR HOST:PORT seed|super|leech HOST:PORT...      one of a swarm: prints "ready" when it has all, and at SIGTERM how many bytes it sent
"""
import os
import signal
import sys
import threading

import libtorrent

SETTINGS = {"listen_interfaces": "127.0.0.1:0", "enable_dht": False, "enable_lsd": False, "enable_upnp": False, "enable_natpmp": False,
            "enable_incoming_utp": False, "enable_outgoing_utp": False, "allow_multiple_connections_per_ip": True}


def make(file, torrent, piece_size):
    files = libtorrent.file_storage()
    libtorrent.add_files(files, file)
    creator = libtorrent.create_torrent(files, int(piece_size), libtorrent.create_torrent.v2_only)
    libtorrent.set_piece_hashes(creator, os.path.dirname(file))
    with open(torrent, "wb") as out:
        out.write(libtorrent.bencode(creator.generate()))


def add(session, torrent, directory, **flags):
    return session.add_torrent({"ti": libtorrent.torrent_info(torrent), "save_path": directory, **flags})


def seed(torrent, directory, port_file):
    session = libtorrent.session(SETTINGS)
    add(session, torrent, directory, flags=libtorrent.torrent_flags.seed_mode | libtorrent.torrent_flags.upload_mode)
    with open(port_file + ".part", "w") as out:
        out.write(str(session.listen_port()))
    os.rename(port_file + ".part", port_file)
    signal.sigwait({signal.SIGTERM})
    os._exit(0)


def leech(torrent, directory, source):
    session = libtorrent.session(SETTINGS)
    heard = threading.Event()
    session.set_alert_notify(heard.set)
    handle = add(session, torrent, directory)
    host, port = source.split(":")
    handle.connect_peer((host, int(port)))
    while not handle.status().is_seeding:
        heard.wait(0.1)  # not wait_for_alert(): it names an alert that moves when more come
        heard.clear()
        session.pop_alerts()
    os._exit(0)


def host(torrent, directory, listen, role, *others):
    session = libtorrent.session({**SETTINGS, "listen_interfaces": listen})
    flags = {"seed": libtorrent.torrent_flags.seed_mode, "leech": 0,
             "super": libtorrent.torrent_flags.seed_mode | libtorrent.torrent_flags.super_seeding}[role]
    heard = threading.Event()
    session.set_alert_notify(heard.set)
    handle = add(session, torrent, directory, flags=flags)
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
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}) if sys.argv[1] in ("seed", "host") else None
    {"make": make, "seed": seed, "leech": leech, "host": host}[sys.argv[1]](*sys.argv[2:])
