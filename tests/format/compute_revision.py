#!/usr/bin/env python3
"""Computes a revision from a directory by docs/format.md alone: manifest, layers, revision, torrent, info hash.

usage: compute_revision.py DIR --model NAME [--piece-size BYTES] [--data-version V] [--transform-version V] [--annotation K=V]...
                           [--out DIR] [--check-with-libtorrent]

Prints one JSON object. Needs Python 3 and nothing else; --check-with-libtorrent also lays the swarm files out in a temporary directory,
has python3-libtorrent make a v2 torrent of them, and fails unless it agrees on file tree, piece layers and info hash.
"""
import argparse
import hashlib
import json
import os
import pathlib
import sys
import tempfile

BLOCK = 16 << 10
PACK_THRESHOLD = 256
MAX_PACK_BYTES = 64 << 20
MAX_PIECES = 65_536


def sha256(data):
    return hashlib.sha256(data).digest()


def power_of_two(count):
    return 1 << (count - 1).bit_length()


def root_of(nodes, width, padding):
    """Root of `nodes`, padded by `padding` to `width` of them."""
    while width > 1:
        if len(nodes) % 2:
            nodes = nodes + [padding]
        nodes = [sha256(nodes[i] + nodes[i + 1]) for i in range(0, len(nodes), 2)]
        padding = sha256(padding + padding)
        width //= 2
    return nodes[0]


def tree_of(content, piece_size):
    """(layer, pieces root) of a swarm file."""
    leaves = [sha256(content[at:at + BLOCK]) for at in range(0, len(content), BLOCK)]
    whole = piece_size // BLOCK
    width = whole if len(content) > piece_size else power_of_two(len(leaves))
    zero = bytes(32)
    layer = [root_of(leaves[at:at + width], width, zero) for at in range(0, len(leaves), width)]
    return layer, root_of(layer, power_of_two(len(layer)), root_of([zero], whole, zero))


def read_tree(directory):
    """{path: content}, by the bytes of the paths."""
    root = os.fsencode(directory)
    files = {}
    for folder, _, names in os.walk(root):
        for name in names:
            full = os.path.join(folder, name)
            with open(full, "rb") as file:
                files[os.path.relpath(full, root)] = file.read()
    return dict(sorted(files.items()))


def default_piece_size(total):
    for piece_size, below in ((256 << 10, 2 << 30), (1 << 20, 16 << 30), (4 << 20, 64 << 30), (8 << 20, 128 << 30)):
        if total < below:
            return piece_size
    return 16 << 20


def pack_files(sizes, piece_size):
    """Lists of indices of files that share a pack."""
    small = [index for index, size in enumerate(sizes) if 0 < size < piece_size]
    packs, room = [], 0
    for index in small if len(small) > PACK_THRESHOLD else []:
        if sizes[index] > room:
            packs.append([])
            room = MAX_PACK_BYTES
        packs[-1].append(index)
        room -= sizes[index]
    return packs


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


class Revision:
    def __init__(self, tree, model, piece_size=0, data_version="", transform_version="", annotations=()):
        contents = list(tree.values())
        self.piece_size = piece_size or default_piece_size(sum(map(len, contents)))
        self.packs = pack_files([len(content) for content in contents], self.piece_size)
        self.swarm = {}  # path: (content, layer, root), in the torrent's order
        files = [self._file(path, content) for path, content in tree.items()]
        packs = []
        for number, members in enumerate(self.packs):
            content = b"".join(contents[index] for index in members)
            root = self._add_swarm_file(b".shoal/pack-%05d" % number, content)
            packs.append({"files": members, "pieces_root": root.hex(), "size": len(content)})
        packed = {index for members in self.packs for index in members}
        for index, (path, content) in enumerate(tree.items()):
            if content and index not in packed:
                self._add_swarm_file(path, content)
        self.swarm = dict(sorted(self.swarm.items(), key=lambda item: item[0].split(b"/")))
        self.manifest = canonical({
            "annotations": dict(annotations), "data_version": data_version, "files": files, "model": model, "packs": packs,
            "piece_size": self.piece_size, "schema": 1, "transform_version": transform_version})
        self.revision = hashlib.sha256(self.manifest).hexdigest()
        self.layers = b"".join(digest for _, layer, _ in self.swarm.values() for digest in layer)
        if len(self.layers) > MAX_PIECES * 32:
            raise SystemExit(f"{len(self.layers) // 32} pieces: at most {MAX_PIECES}")

    def _file(self, path, content):
        entry = {"path": path.decode(), "sha256": hashlib.sha256(content).hexdigest(), "size": len(content)}
        if content:
            entry["pieces_root"] = tree_of(content, self.piece_size)[1].hex()
        return entry

    def _add_swarm_file(self, path, content):
        layer, root = tree_of(content, self.piece_size)
        self.swarm[path] = (content, layer, root)
        return root

    def info(self):
        """The info dictionary; None where there is nothing to exchange."""
        if not self.swarm:
            return None
        tree = {}
        for path, (content, _, root) in self.swarm.items():
            *folders, name = path.split(b"/")
            node = tree
            for folder in folders:
                node = node.setdefault(folder, {})
            node[name] = {b"": {b"length": len(content), b"pieces root": root}}
        return {b"file tree": tree, b"meta version": 2, b"name": self.revision.encode(), b"piece length": self.piece_size, b"private": 1}

    def piece_layers(self):
        return {root: b"".join(layer) for _, layer, root in self.swarm.values() if len(layer) > 1}

    def info_hash(self):
        return hashlib.sha256(bencode(self.info())).hexdigest() if self.swarm else ""

    def torrent(self):
        return bencode({b"info": self.info(), b"piece layers": self.piece_layers()})

    def summary(self):
        return {"revision": "sha256:" + self.revision, "piece_size": self.piece_size, "pieces": len(self.layers) // 32,
                "swarm_files": len(self.swarm), "packs": len(self.packs), "layers_sha256": hashlib.sha256(self.layers).hexdigest(),
                "info_hash": self.info_hash()}


def bencode(value):
    if isinstance(value, int):
        return b"i%de" % value
    if isinstance(value, bytes):
        return b"%d:%s" % (len(value), value)
    return b"d" + b"".join(bencode(key) + bencode(value[key]) for key in sorted(value)) + b"e"


def check_with_libtorrent(revision):
    """Empty if libtorrent makes the same torrent of the same swarm files, else what differs."""
    import libtorrent as lt
    with tempfile.TemporaryDirectory() as parent:
        root = os.path.join(os.fsencode(parent), revision.revision.encode())
        storage = lt.file_storage()
        for path, (content, _, _) in revision.swarm.items():
            full = os.path.join(root, path)
            os.makedirs(os.path.dirname(full), exist_ok=True)
            with open(full, "wb") as file:
                file.write(content)
            storage.add_file(os.fsdecode(os.path.join(revision.revision.encode(), path)), len(content))
        maker = lt.create_torrent(storage, revision.piece_size, lt.create_torrent.v2_only)
        maker.set_priv(True)
        lt.set_piece_hashes(maker, parent)
        theirs = maker.generate()
    loaded = lt.torrent_info(lt.bdecode(revision.torrent()))
    checks = {
        "file tree": (revision.info()[b"file tree"], plain(theirs[b"info"][b"file tree"])),
        "info dictionary": (bencode(revision.info()), bencode(plain({k: v for k, v in theirs[b"info"].items() if k in revision.info()}))),
        "piece layers": (revision.piece_layers(), plain(theirs.get(b"piece layers", {}))),
        "info hash as loaded": (revision.info_hash(), str(loaded.info_hashes().v2)),
        "info hash as made": (revision.info_hash(), str(lt.torrent_info(theirs).info_hashes().v2)),
        "v2 alone": (False, loaded.info_hashes().has_v1()),
        "private": (True, loaded.priv()),
        "pieces": (len(revision.layers) // 32, loaded.num_pieces()),
    }
    return [f"{what}: expected {ours}, found {found}" for what, (ours, found) in checks.items() if ours != found]


def plain(value):
    """libtorrent's dictionaries as ours."""
    return {key: plain(inner) for key, inner in value.items()} if isinstance(value, dict) else value


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("--model", required=True)
    parser.add_argument("--piece-size", type=int, default=0)
    parser.add_argument("--data-version", default="")
    parser.add_argument("--transform-version", default="")
    parser.add_argument("--annotation", action="append", default=[])
    parser.add_argument("--out", type=pathlib.Path, help="write manifest.json, layers and torrent there")
    parser.add_argument("--check-with-libtorrent", action="store_true")
    options = parser.parse_args()
    annotations = [annotation.split("=", 1) for annotation in options.annotation]
    revision = Revision(read_tree(options.directory), options.model, options.piece_size, options.data_version, options.transform_version, annotations)
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "manifest.json").write_bytes(revision.manifest)
        (options.out / "layers").write_bytes(revision.layers)
        if revision.swarm:
            (options.out / "torrent").write_bytes(revision.torrent())
    print(json.dumps(revision.summary(), indent=1))
    troubles = check_with_libtorrent(revision) if options.check_with_libtorrent and revision.swarm else []
    for trouble in troubles:
        print(trouble[:2000], file=sys.stderr)
    return bool(troubles)


if __name__ == "__main__":
    sys.exit(main())
