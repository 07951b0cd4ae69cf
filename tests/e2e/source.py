"""Scripted sources: members that a tracker names to whoever wants a revision, and that say to those who dial them what the test wants.

Each is told to the tracker by one beat, which counts for two beats of the tracker's.
"""
import contextlib
import os
import socket
import socketserver
import struct
import threading
import urllib.request

HELD = 2  # a holding's state in docs/protocol.md
REQUEST, UNCHOKE, HAVE_ALL, EXTENDED = 6, 1, 14, 20  # messages of BEP 3, BEP 6, BEP 10


def packed(value):
    """The value as msgpack."""
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, int):
        return b"\xcf" + value.to_bytes(8, "big")
    if isinstance(value, (bytes, str)):
        raw = value if isinstance(value, bytes) else value.encode()
        return (b"\xc5" if isinstance(value, bytes) else b"\xda") + len(raw).to_bytes(2, "big") + raw
    if isinstance(value, list):
        return b"\xdc" + len(value).to_bytes(2, "big") + b"".join(map(packed, value))
    return b"\xde" + len(value).to_bytes(2, "big") + b"".join(packed(key) + packed(item) for key, item in value.items())


def bencoded(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    return b"d" + b"".join(bencoded(key) + bencoded(value[key]) for key in sorted(value)) + b"e"


def framed(kind, body=b""):
    return struct.pack(">IB", len(body) + 1, kind) + body


class Member:
    """Something at a port of 127.0.0.1 that a tracker takes for a peer with all of the revision. Ends with the context."""

    def __init__(self):
        self.peer = os.urandom(16)

    def tell(self, tracker, model, revision):
        holding = {"revision": bytes.fromhex(revision.removeprefix("sha256:")), "model": model, "state": HELD, "bytes_total": 1, "bytes_have": 1}
        beat = {"version": 1, "peer": self.peer, "instance": 1, "key": os.urandom(16), "sequence": 1, "port": self.port, "node": "scripted", "holdings": [holding]}
        urllib.request.urlopen(urllib.request.Request(tracker.url + "/control/v1/beat", data=packed(beat)), timeout=10).close()
        return self

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Unreachable(Member):
    """Its queue of connections is full, so the kernel drops every SYN."""

    def __init__(self):
        super().__init__()
        self.sockets = [socket.socket()]
        self.sockets[0].bind(("127.0.0.1", 0))
        self.sockets[0].listen(0)
        self.port = self.sockets[0].getsockname()[1]
        while self.fill():
            pass

    def fill(self):
        """Whether one more has found a place in the queue."""
        self.sockets.append(socket.socket())
        self.sockets[-1].settimeout(0.3)
        with contextlib.suppress(TimeoutError):
            self.sockets[-1].connect(("127.0.0.1", self.port))
            return True
        return False

    def dialled(self):
        """Whether somebody else's SYN waits for an answer."""
        own = {f"{each.getsockname()[1]:04X}" for each in self.sockets}
        for line in open("/proc/net/tcp", encoding="ascii").readlines()[1:]:
            _, local, remote, state = line.split()[:4]
            if remote.endswith(f":{self.port:04X}") and state == "02" and local.split(":")[1] not in own:
                return True
        return False

    def close(self):
        for each in self.sockets:
            each.close()


class Answering(Member):
    """Accepts whoever dials; with `talks` it shakes hands, says that it has everything and lets itself be asked. It never sends a byte of a piece."""

    def __init__(self, *, talks):
        super().__init__()
        self.connections = self.requests = 0
        self.stopping = threading.Event()
        member = self

        class Connection(socketserver.BaseRequestHandler):
            def handle(self):
                member.connections += 1
                with contextlib.suppress(OSError, EOFError):
                    member.talk(self.request) if talks else member.stopping.wait()

        self.server = socketserver.ThreadingTCPServer(("127.0.0.1", 0), Connection)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()

    def talk(self, connection):
        stream = connection.makefile("rb")
        handshake = self.read(stream, 68)
        reserved = bytearray(8)
        reserved[5], reserved[7] = 0x10, 0x14  # extensions; the fast extension and v2
        shown = bencoded({b"m": {}, b"shoal": {b"v": 1, b"id": self.peer, b"kind": b"peer"}})
        connection.sendall(handshake[:20] + reserved + handshake[28:48] + b"-SX0000-" + os.urandom(12) + framed(EXTENDED, b"\0" + shown) + framed(HAVE_ALL) + framed(UNCHOKE))
        while True:
            length = int.from_bytes(self.read(stream, 4), "big")
            if length > 0 and self.read(stream, length)[0] == REQUEST:
                self.requests += 1

    @staticmethod
    def read(stream, size):
        data = stream.read(size)
        if len(data) < size:
            raise EOFError
        return data

    def close(self):
        self.stopping.set()
        self.server.shutdown()
        self.server.server_close()
