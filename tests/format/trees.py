"""Directories from which the tests compute revisions: the same bytes on every machine."""
import hashlib
import os

PIECE = 256 << 10


def content(name, size):
    """`size` bytes that only `name` decides."""
    return hashlib.shake_128(name).digest(size)


def sized(sizes):
    return {path: content(path, size) for path, size in sizes.items()}


def few():
    """Every relation of a size to block and piece; paths whose order differs between manifest and torrent."""
    return sized({b"a-b": 3, b"a.txt": 16384, b"a/b": 16385, b"a/c/d": 1, b"b": PIECE - 1, b"c": PIECE, b"d": PIECE + 1, b"e": 7 * PIECE + 12345, b"empty": 0,
                  b"z/empty too": 0})


def names():
    """Whatever a filesystem and UTF-8 allow."""
    texts = ["plain", " leading and trailing ", "#+%2F?*[x]~$", "it's \"quoted\"", "-rf", "nbsp\u00a0", "override\u202e", "separator\u2028", "mark\u200e", "wide\u3000",
             "del\x7f", "line\nbreak\ttab\r", "control\x01\x1f", "caf\u00e9", "cafe\u0301", "\U0001f40b/\ud7ff/\ue000", "n" * 255, "." + "d", "...", "A", "a",
             "/".join("deep" for _ in range(63)) + "/end"]
    return sized({text.encode(): 10 + index for index, text in enumerate(texts)})


def packs():
    """More small files than stand alone, among large and empty ones."""
    sizes = {b"small/%d" % number: 1 + number * 37 for number in range(300)}
    return sized(sizes | {b"large": PIECE, b"larger": 2 * PIECE + 1, b"small/empty": 0, b"zz": PIECE - 1})


def pack_cut():
    """More than a pack holds."""
    return sized({b"shard-%03d" % number: PIECE - 1 - number for number in range(300)})


def twins():
    """Equal files, which share a pieces root and a layer."""
    same = content(b"twins", 3 * PIECE + 5)
    return {b"one": same, b"two/one": same, b"small": b"x", b"small too": b"x"}


def empty():
    """Nothing to exchange: no pieces, no torrent."""
    return {b"nothing": b"", b"still/nothing": b""}


def example():
    """The one of docs/format.md."""
    return {b"a-b": b"hello\n", b"a/b": b"shoal\n", b"empty": b"", b"zeros": bytes(300_000)}


# name: (tree, options of Revision)
CASES = {
    "example": (example, {"model": "example"}),
    "few": (few, {"model": "few"}),
    "provenance": (few, {"model": "meta-llama/Llama-3.1-8B", "data_version": "2026-01", "transform_version": "fp8 \u00e9\n", "piece_size": 1 << 20,
                         "annotations": (("org.example/owner", "a \"b\" \\ \u20ac"), ("Z", ""), ("a", "1"))}),
    "names": (names, {"model": "names"}),
    "packs": (packs, {"model": "packs"}),
    "pack_cut": (pack_cut, {"model": "pack_cut"}),
    "twins": (twins, {"model": "twins"}),
    "empty": (empty, {"model": "empty"}),
}


def write(tree, root):
    for path, data in tree.items():
        full = os.path.join(os.fsencode(root), path)
        os.makedirs(os.path.dirname(full), exist_ok=True)
        with open(full, "wb") as file:
            file.write(data)
