#!/usr/bin/env python3
"""N peers at once behind shaped uplinks, in network namespaces: how near the bound the last one is ready, and how often the model leaves the seeder; stock
libtorrent, seeding and super-seeding, beside it. Needs root.
"""
import argparse
import dataclasses
import functools
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
os.environ["SHOAL_BUILD"] = sys.argv[1] if len(sys.argv) > 1 else "build/release"

from cluster import SEEDER, Cluster, Process, Server, wait_until  # noqa: E402
from measure import MB, cpu_of, make_file, peak_resident  # noqa: E402
from network import Network  # noqa: E402

LONG = 900  # seconds
STOCK = ["/usr/bin/python3", HERE / "stock.py"]  # Debian's, which has python3-libtorrent


@dataclasses.dataclass
class Scenario:
    name: str
    peers: int
    size: int  # bytes
    up: list   # bytes/s, by peer in turn; the seeder's is the first
    down: list = dataclasses.field(default_factory=lambda: [None])
    must: float = 1.05


SCENARIOS = [
    Scenario("8 peers, 200 MB", 8, 200 * MB, [12 * MB]),
    Scenario("8 peers, 1 GB", 8, 1000 * MB, [12 * MB], must=1.03),
    Scenario("16 peers, 6 MB/s, 200 MB", 16, 200 * MB, [6 * MB], must=1.08),
    Scenario("8 peers, downloads shaped too", 8, 200 * MB, [12 * MB], [12 * MB], must=1.12),
    Scenario("8 peers, uplinks of 4 and 20 MB/s", 8, 200 * MB, [12 * MB, 4 * MB, 20 * MB], must=1.10),
    Scenario("8 peers, 60 MB", 8, 60 * MB, [12 * MB], must=1.12),
]


def uplinks(scenario):
    """The seeder's, and the peers'."""
    rest = scenario.up[1:] or scenario.up
    return [scenario.up[0]] + [rest[i % len(rest)] for i in range(scenario.peers)]


def bound(scenario, share):
    """Seconds that no system can beat: the seeder sends all once, each peer receives all, all uplinks together send it to all."""
    up = [rate * share for rate in uplinks(scenario)]
    down = [rate * share for rate in scenario.down if rate]
    return max([scenario.size / up[0], scenario.peers * scenario.size / sum(up)] + [scenario.size / rate for rate in down])


@dataclasses.dataclass
class Run:
    seconds: list      # from the start of the first peer's process until each has all
    origin: int        # bytes that left the seeder
    cpu: tuple         # seconds: the seeder's, all peers'
    resident: tuple    # bytes: the seeder's, the largest peer's


def when_ready(peers, word, begun):
    """Seconds until each peer's output holds the word."""
    ready = {}

    def all_ready():
        for i, peer in enumerate(peers):
            if i not in ready and word in peer.out:
                ready[i] = time.monotonic() - begun
            elif not peer.running():
                raise AssertionError(f"a peer exits {peer.popen.returncode}: {peer.done().last}")
        return len(ready) == len(peers)

    wait_until(all_ready, "all peers ready", LONG)
    return [ready[i] for i in range(len(peers))]


def used(seeder, peers):
    return {"cpu": (cpu_of(seeder), sum(map(cpu_of, peers))), "resident": (peak_resident(seeder), max(map(peak_resident, peers)))}


def run_shoal(scenario, network, cluster, model):
    revision = cluster.publish(model, "--in-place", deadline=LONG)
    on = network.prefix
    tracker = cluster.start_tracker(listen=f"{network.address(0)}:7000", prefix=on(0))
    seeder = cluster.start(Server, "seeder", [*on(0), SEEDER, "serve", "--store", cluster.store_url, "--tracker", tracker.url, "--listen", f"{network.address(0)}:6881",
                                              "--http", f"{network.address(0)}:8081"])
    seeder.address()
    begun = time.monotonic()
    peers = [cluster.start_fetch(cluster.path(f"dest-{i}"), "--linger", "10m", prefix=on(i + 1), revision=revision, listen=f"{network.address(i + 1)}:6881", interval="10s")
             for i in range(scenario.peers)]
    seconds = when_ready(peers, '"event":"verified"', begun)  # as with the others: not synced yet
    events = [peer.wait_for_event("ready") for peer in peers]
    return Run(seconds, sum(event["from_origin"] for event in events), **used(seeder, peers))


def run_stock(role, scenario, network, cluster, model):
    """Each dials the seeder and all that were started before it, so that everybody is connected to everybody."""
    torrent = cluster.path("stock.torrent")
    subprocess.run([*STOCK, "make", model / "weights.bin", torrent, str(256 << 10)], check=True)
    addresses = [f"{network.address(i)}:6881" for i in range(scenario.peers + 1)]

    def start(i, role, directory):
        directory.mkdir(exist_ok=True)
        return cluster.start(Process, f"{role}-{i}", [*network.prefix(i), *STOCK, "host", torrent, directory, addresses[i], role, *addresses[:i]])

    seeder = start(0, role, model)
    when_ready([seeder], "ready", time.monotonic())
    begun = time.monotonic()
    peers = [start(i + 1, "leech", cluster.path(f"stock-{i}")) for i in range(scenario.peers)]
    seconds = when_ready(peers, "ready", begun)
    spent = used(seeder, peers)
    seeder.signal(signal.SIGTERM)
    seeder.wait(30)
    return Run(seconds, int(seeder.out.split()[-1]), **spent)


SYSTEMS = {"shoal": run_shoal, "stock": functools.partial(run_stock, "seed"), "super-seeding": functools.partial(run_stock, "super")}


def measure(scenario, system):
    network = Network(scenario.peers + 1)
    cluster = Cluster()
    try:
        for i, up in enumerate(uplinks(scenario)):
            network.shape(i, up, scenario.down[i % len(scenario.down)])
        share = network.stream_rate(1, 2) / min(uplinks(scenario)[1], scenario.down[0] or 1e18)
        model = make_file(cluster.path("model/weights.bin"), scenario.size).parent
        took = SYSTEMS[system](scenario, network, cluster, model)
    finally:
        cluster.close()
        network.close()
    least = bound(scenario, share)
    moved = scenario.size * scenario.peers / 1e9
    return {"scenario": scenario.name, "system": system, "bound": least, "last": max(took.seconds) / least, "median": statistics.median(took.seconds) / least,
            "copies": took.origin / scenario.size, "seeder_cpu_per_gb": took.cpu[0] / (took.origin / 1e9), "peer_cpu_per_gb": took.cpu[1] / moved,
            "seeder_mib": took.resident[0] >> 20, "peer_mib": took.resident[1] >> 20}


def median_of_runs(runs):
    return {key: value if isinstance(value, str) else statistics.median(run[key] for run in runs) for key, value in runs[0].items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", help="a release build")
    parser.add_argument("scenarios", nargs="*", metavar="NAME", help=f"of {', '.join(repr(scenario.name) for scenario in SCENARIOS)}; default: all")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE")
    parser.add_argument("--runs", type=int, default=1, help="of each; the table has the medians")
    parser.add_argument("--systems", nargs="*", choices=SYSTEMS, default=list(SYSTEMS))
    asked = parser.parse_args()
    print("| scenario | system | bound | last / bound | must | median / bound | origin copies | CPU a GB, seeder, peer | MiB, seeder, peer |\n|---|---|---|---|---|---|---|---|---|",
          flush=True)
    results = []
    for scenario in SCENARIOS:
        if asked.scenarios and scenario.name not in asked.scenarios:
            continue
        runs = {system: [] for system in asked.systems}
        for _ in range(asked.runs):  # one after the other, so that a slow minute of the machine is everybody's
            for system, found in runs.items():
                found.append(measure(scenario, system))
        for system, found in runs.items():
            row = median_of_runs(found) | {"must": f"{scenario.must:.2f}" if system == "shoal" else "", "runs": found}
            results.append(row)
            print("| {scenario} | {system} | {bound:.1f} s | {last:.3f} | {must} | {median:.3f} | {copies:.3f} | {seeder_cpu_per_gb:.2f} s, {peer_cpu_per_gb:.2f} s | {seeder_mib:.0f}, {peer_mib:.0f} |"
                  .format(**row), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
