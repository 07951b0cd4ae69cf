#!/usr/bin/env python3
"""N peers at once behind shaped uplinks: how near the bound the last one is ready, and how often the model leaves the seeder.

usage: swarm.py BUILD_DIR [--json FILE] [NAME...]      BUILD_DIR: a release build; NAME: some of the scenarios below, default all. Needs root.
"""
import dataclasses
import json
import os
import pathlib
import statistics
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))
os.environ["SHOAL_BUILD"] = sys.argv[1] if len(sys.argv) > 1 else "build/release"

from cluster import SEEDER, Cluster, Server, wait_until  # noqa: E402
from measure import MB, cpu_of, make_file, peak_resident  # noqa: E402
from network import Network  # noqa: E402

LONG = 900


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


def run(scenario, network, cluster):
    """(seconds of each peer, bytes that left the origin, CPU-seconds of the seeder and of all peers, peak resident of both)"""
    model = make_file(cluster.path("model/weights.bin"), scenario.size).parent
    revision = cluster.publish(model, "--in-place", deadline=LONG)
    on = network.prefix
    tracker = cluster.start_tracker(listen=f"{network.address(0)}:7000", prefix=on(0))
    seeder = cluster.start(Server, "seeder", [*on(0), SEEDER, "serve", "--store", cluster.store_url, "--tracker", tracker.url, "--listen", f"{network.address(0)}:6881",
                                              "--http", f"{network.address(0)}:8081"])
    seeder.address()
    begun = time.monotonic()
    peers = [cluster.start_fetch(cluster.path(f"dest-{i}"), "--linger", "10m", prefix=on(i + 1), revision=revision, listen=f"{network.address(i + 1)}:6881", interval="10s")
             for i in range(scenario.peers)]
    ready = {}

    def all_ready():
        for i, peer in enumerate(peers):
            if i not in ready and '"event":"ready"' in peer.out:
                ready[i] = time.monotonic() - begun
            elif not peer.running():
                raise AssertionError(f"a fetch exits {peer.popen.returncode}: {peer.done().last}")
        return len(ready) == len(peers)

    wait_until(all_ready, "all peers ready", LONG)
    events = [peer.wait_for_event("ready") for peer in peers]
    cpu = cpu_of(seeder), sum(map(cpu_of, peers))
    peak = peak_resident(seeder), max(map(peak_resident, peers))
    return list(ready.values()), sum(event["from_origin"] for event in events), cpu, peak


def measure(scenario):
    network = Network(scenario.peers + 1)
    cluster = Cluster()
    try:
        for i, up in enumerate(uplinks(scenario)):
            network.shape(i, up, scenario.down[i % len(scenario.down)])
        share = network.stream_rate(1, 2) / min(uplinks(scenario)[1], scenario.down[0] or 1e18)
        times, origin, cpu, peak = run(scenario, network, cluster)
    finally:
        cluster.close()
        network.close()
    least = bound(scenario, share)
    moved = scenario.size * scenario.peers / 1e9
    return {"scenario": scenario.name, "bound": least, "last": max(times) / least, "median": statistics.median(times) / least, "copies": origin / scenario.size,
            "must": scenario.must, "seeder_cpu_per_gb": cpu[0] / (origin / 1e9), "peer_cpu_per_gb": cpu[1] / moved, "seeder_mib": peak[0] >> 20, "peer_mib": peak[1] >> 20}


def main(arguments):
    output = arguments[arguments.index("--json") + 1] if "--json" in arguments else None
    names = [a for a in arguments if a not in ("--json", output)]
    print("| scenario | bound | last / bound | median / bound | must | origin copies | CPU a GB, seeder, peer | MiB, seeder, peer |\n|---|---|---|---|---|---|---|---|", flush=True)
    results = []
    for scenario in SCENARIOS:
        if names and scenario.name not in names:
            continue
        found = measure(scenario)
        results.append(found)
        print("| {scenario} | {bound:.1f} s | {last:.3f} | {median:.3f} | {must:.2f} | {copies:.3f} | {seeder_cpu_per_gb:.2f} s, {peer_cpu_per_gb:.2f} s | {seeder_mib}, {peer_mib} |"
              .format(**found), flush=True)
    if output:
        pathlib.Path(output).write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main(sys.argv[2:])
