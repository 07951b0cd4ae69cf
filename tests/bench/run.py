#!/usr/bin/env python3
"""Measures Shoal against a rival in the same run on the same machine, and prints a Markdown table.

usage: run.py BUILD_DIR [NAME...]      BUILD_DIR: a release build; NAME: some of the benchmarks below, default all
"""
import contextlib
import dataclasses
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
os.environ["SHOAL_BUILD"] = sys.argv[1] if len(sys.argv) > 1 else "build/release"

from cluster import SEEDER, Cluster, Process, Server, free_port, write  # noqa: E402
from measure import GB, MB, MemoryGroup, can_limit_memory, cpu_of, into_page_cache, make_file, median_of, out_of_page_cache, peak_resident, run, spending, warm_memory  # noqa: E402

PYTHON = "/usr/bin/python3"  # Debian's, which has python3-libtorrent
LONG = 600  # seconds; a benchmark that takes longer has failed


@dataclasses.dataclass
class Row:
    what: str
    shoal: str
    rival: str
    ratio: str
    target: str


def fetch(cluster, dest, *args, **what):
    done = cluster.fetch(dest, "--linger", "0s", *args, deadline=LONG, **what)
    if done.code != 0:
        raise AssertionError(f"fetch exits {done.code}: {done.last}")
    return done.event("ready")


def publish_against_openssl(cluster):
    """CPU of `publish --in-place` from page cache against `openssl dgst -sha256`; wall time on one core and on two."""
    files = [make_file(cluster.path(f"model/shard-{i}.bin"), GB // 2) for i in range(4)]
    into_page_cache(cluster.path("model"))
    gigabytes = 2

    def publish(*prefix):
        for path in cluster.store.iterdir():
            run(["rm", "-rf", path])
        with spending() as spent:
            run([*prefix, SEEDER, "publish", cluster.path("model"), "--model", "bench", "--store", cluster.store_url, "--in-place"])
        return spent

    def openssl():
        with spending() as spent:
            run(["openssl", "dgst", "-sha256", *files])
        return spent.cpu

    rival = median_of(3, openssl)
    mine = median_of(3, lambda: publish().cpu)
    yield Row("publish in place, CPU a GB, against `openssl dgst -sha256`", f"{mine / gigabytes:.2f} s", f"{rival / gigabytes:.2f} s", f"{mine / rival:.2f}", "<= 2.0")
    one = median_of(3, lambda: publish("taskset", "-c", "0").wall)
    two = median_of(3, lambda: publish("taskset", "-c", "0,1").wall)
    yield Row("publish in place, wall, two cores against one", f"{two / gigabytes:.2f} s/GB", f"{one / gigabytes:.2f} s/GB", f"{two / one:.2f}", "0.5 at best")


def seeder_start(cluster):
    """From the start of a seeder's process to the first verified piece at a peer that has been waiting."""
    times = {}
    for name, size in (("100 MB", 100 * MB), ("8 GB", 8 * GB)):
        model = make_file(cluster.path(f"{size}/weights.bin"), size).parent
        revision = cluster.publish(model, "--in-place", model=f"m{size}", deadline=LONG)

        def first_piece():
            cluster.start_tracker()
            waiting = cluster.start_fetch(cluster.path("dest"), model=f"m{size}", revision=revision, interval="10ms")
            waiting.wait_for_event("resolved")
            waiting.wait_for_event("progress")
            begun = time.monotonic()
            seeder = cluster.start(Server, "seeder", [SEEDER, "serve", "--store", cluster.store_url, "--tracker", cluster.current_tracker.url, "--listen", "127.0.0.1:0",
                                                      "--http", "127.0.0.1:0"])
            waiting.wait_for_event("progress", bytes=1)
            passed = time.monotonic() - begun
            for process in (waiting, seeder, cluster.current_tracker):
                process.kill()
            run(["rm", "-rf", cluster.path("dest")])
            return passed

        times[name] = median_of(3, first_piece)
        run(["rm", "-rf", model])
    yield Row("seeder's start to the first piece at a peer, 8 GB against 100 MB", f"{times['8 GB']:.2f} s", f"{times['100 MB']:.2f} s",
              f"{times['8 GB'] / times['100 MB']:.2f}", "<= 0.5 s, same for both")


def second_fetch(cluster):
    """A fetch of 2 GB that are held already."""
    model = make_file(cluster.path("model/weights.bin"), 2 * GB).parent
    revision = cluster.publish(model, "--in-place", model="bench", deadline=LONG)
    cluster.start_servers()
    first = fetch(cluster, cluster.path("dest"), model="bench", revision=revision)

    def again():
        with spending() as spent:
            fetch(cluster, cluster.path("dest"), model="bench", revision=revision)
        return spent.wall

    second = median_of(5, again)
    yield Row("second fetch of 2 GB that are held, against the first", f"{second:.3f} s", f"{first['seconds']:.2f} s", f"{second / first['seconds']:.3f}", "<= 0.2 s")


@contextlib.contextmanager
def ext4(cluster):
    """One as mkfs makes it. Without a journal, as some machines have it, it looks past each inode deleted within minutes for every file that it makes."""
    image, mounted = cluster.path("disk.img"), cluster.path("disk")
    image.touch()
    os.truncate(image, 4 * GB)
    mounted.mkdir()
    run(["mkfs.ext4", "-q", "-F", image])
    run(["mount", "-o", "loop", image, mounted])
    try:
        yield mounted
    finally:
        run(["umount", mounted])


def small_files(cluster):
    """10 000 files of 4 KiB against one of the same bytes."""
    with ext4(cluster) as disk:
        yield from small_files_on(cluster, disk)


def small_files_on(cluster, disk):
    many, one = cluster.path("many"), cluster.path("one")
    for i in range(10_000):
        write(many / f"{i // 100:02}/{i:05}.bin", os.urandom(4096))
    make_file(one / "weights.bin", 10_000 * 4096)
    published, fetched, places = {}, {}, []
    cluster.start_servers()
    for name, model in (("many", many), ("one", one)):

        def publish():
            run(["rm", "-rf", *cluster.store.iterdir()])
            os.sync()
            with spending() as spent:
                cluster.revision = cluster.publish(model, model=name, deadline=LONG)
            return spent.wall

        def one_fetch():
            places.append(disk / str(len(places)))
            os.sync()
            return fetch(cluster, places[-1], model=name, revision=cluster.revision)["seconds"]

        published[name] = median_of(3, publish)
        fetched[name] = median_of(5, one_fetch)
    for what, times in (("publish", published), ("fetch", fetched)):
        yield Row(f"{what}, 10 000 files of 4 KiB against one of 40 MB", f"{times['many']:.2f} s", f"{times['one']:.2f} s", f"{times['many'] / times['one']:.2f}", "<= 3")


def cpu_against_stock(cluster):
    """CPU of all processes over loopback until everybody has all, against stock libtorrent: seeder to one peer, seeder to two that share, and peer to peer."""
    size = 2 * GB
    model = make_file(cluster.path("model/weights.bin"), size).parent
    revision = cluster.publish(model, "--in-place", model="bench", deadline=LONG)
    torrent = cluster.path("rival.torrent")
    run([PYTHON, HERE / "stock.py", "make", model / "weights.bin", torrent, 256 * 1024])
    seeder = cluster.start_servers()
    into_page_cache(model)

    def start_peer(i):
        return cluster.start_fetch(cluster.path(f"dest-{i}"), "--linger", "600s", model="bench", revision=revision)

    def shoal(source, peers):
        run(["rm", "-rf", *(cluster.path(f"dest-{i}") for i in range(peers))])
        warm_memory((peers + 1) * size)
        before = cpu_of(source)
        running = [start_peer(i) for i in range(peers)]
        for peer in running:
            peer.wait_for_event("ready", LONG)
        return sum(map(cpu_of, running)) + cpu_of(source) - before, running

    def stock(peers):
        hosts, ports = [], []
        run(["rm", "-rf", *(cluster.path(f"rival-{i + 1}") for i in range(peers))])
        warm_memory((peers + 1) * size)
        for i in range(peers + 1):
            directory = cluster.path(f"rival-{i}") if i else model
            directory.mkdir(exist_ok=True)
            ports.append(f"127.0.0.1:{free_port()}")
            command = [PYTHON, HERE / "stock.py", "host", torrent, directory, ports[-1], "leech" if i else "seed", *ports[:-1]]
            hosts.append(cluster.start(Process, f"stock-{i}", command))
        for host in hosts:
            host.wait_for(lambda: "ready" in host.out, "it has all", LONG)
        return sum(map(cpu_of, hosts)), hosts

    def row(what, source, peers, must):
        pairs = []
        for _ in range(3):
            pair = []
            for used, running in (shoal(source, peers), stock(peers)):
                pair.append(used / (size / GB))
                for process in running:
                    process.kill()
            pairs.append(pair)
        mine, rival = (sorted(values)[1] for values in zip(*pairs))
        return Row(f"{what}, CPU a GB of all, against stock libtorrent", f"{mine:.2f} s", f"{rival:.2f} s", f"{mine / rival:.2f}", must)

    yield row("seeder to one peer over loopback", seeder, 1, "<= 0.65")
    yield row("seeder to two peers that share", seeder, 2, "<= 0.50")
    holder = start_peer("holder")
    holder.wait_for_event("ready", LONG)
    seeder.kill()
    yield row("peer to peer", holder, 1, "<= 0.45")


def memory(cluster):
    """A model of 4 GB through a seeder and a peer that may each have 256 MiB, page cache included."""
    if not can_limit_memory():
        yield Row("memory for a model of 4 GB", "not measured: no cgroup v1 memory controller to write to", "", "", "<= 256 MiB")
        return
    limit = 256 << 20
    model = make_file(cluster.path("model/weights.bin"), 4 * GB).parent
    revision = cluster.publish(model, model="bench", deadline=LONG)
    run(["rm", "-rf", model])
    out_of_page_cache(cluster.store)
    cluster.start_tracker()
    groups = {name: MemoryGroup(name, limit) for name in ("seeder", "peer")}
    try:
        command = [SEEDER, "serve", "--store", cluster.store_url, "--tracker", cluster.current_tracker.url, "--listen", "127.0.0.1:0", "--http", "127.0.0.1:0"]
        seeder = cluster.start(Server, "seeder", [*groups["seeder"].prefix(), *command])
        seeder.address()
        command = cluster.peer_command(cluster.path("dest"), "--linger", "60s", model="bench", revision=revision)
        peer = cluster.start(Process, "peer", [*groups["peer"].prefix(), *command])
        peer.wait_for_event("ready", LONG)
        for name, process in (("seeder", seeder), ("peer", peer)):
            group = groups[name]
            yield Row(f"memory of the {name} for a model of 4 GB under a limit of 256 MiB", f"{peak_resident(process) >> 20} MiB resident, {group.value('max_usage_in_bytes') >> 20} MiB with page cache",
                      "", f"{group.kills()} kills", "<= 256 MiB, 0 kills")
    finally:
        for process in cluster.processes:
            if process.running():
                process.kill()
        for group in groups.values():
            group.remove()


BENCHMARKS = (publish_against_openssl, seeder_start, second_fetch, small_files, cpu_against_stock, memory)


def main(names):
    chosen = [bench for bench in BENCHMARKS if not names or bench.__name__ in names]
    if not chosen or len(chosen) < len(names):
        sys.exit(f"run.py: unknown benchmark; expected some of: {' '.join(bench.__name__ for bench in BENCHMARKS)}")
    processor = next((line.split(": ")[1] for line in open("/proc/cpuinfo") if line.startswith("model name")), platform.machine()).strip()
    print(f"{os.cpu_count()} cores of {processor}\n\n| what | Shoal | rival | ratio | target |\n|---|---|---|---|---|", flush=True)
    failed = 0
    for bench in chosen:
        cluster = Cluster()
        try:
            for row in bench(cluster):
                print(f"| {row.what} | {row.shoal} | {row.rival} | {row.ratio} | {row.target} |", flush=True)
        except (AssertionError, subprocess.CalledProcessError) as error:
            failed += 1
            print(f"| {bench.__name__} | failed: {error} | | | |", flush=True)
        finally:
            cluster.close()
    return failed


if __name__ == "__main__":
    sys.exit(main(sys.argv[2:]))
