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
    zones: int = 1  # in which peers are in turn, each behind a border as wide as the seeder's uplink
    replaced: float = 0.0  # the part of the peers that are killed, one after the other, and come back with nothing
    delay: int = 0  # milliseconds between any two, one way
    rivals: bool = True


SCENARIOS = [
    Scenario("8 peers, 200 MB", 8, 200 * MB, [12 * MB]),
    Scenario("8 peers, 1 GB", 8, 1000 * MB, [12 * MB], must=1.03),
    Scenario("16 peers, 6 MB/s, 200 MB", 16, 200 * MB, [6 * MB], must=1.08),
    Scenario("8 peers, downloads shaped too", 8, 200 * MB, [12 * MB], [12 * MB], must=1.12),
    Scenario("8 peers, uplinks of 4 and 20 MB/s", 8, 200 * MB, [12 * MB, 4 * MB, 20 * MB], must=1.10),
    Scenario("8 peers, 60 MB", 8, 60 * MB, [12 * MB], must=1.12),
    Scenario("8 peers, 2 zones", 8, 200 * MB, [12 * MB], must=1.08, zones=2, rivals=False),
    Scenario("9 peers, 3 zones", 9, 200 * MB, [12 * MB], must=1.08, zones=3, rivals=False),
    Scenario("8 peers, half of them killed and replaced", 8, 200 * MB, [12 * MB], must=1.50, replaced=0.5, rivals=False),
    Scenario("8 peers, 20 ms between all", 8, 200 * MB, [12 * MB], must=1.25, delay=20),
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
    crossed: int = 0   # bytes from zone to zone


class Peers:
    """Processes that run at once, and when each had all, seconds from its own start. `word` in a process's output says so."""

    def __init__(self, word, start, count):
        self.word = word
        self.start = start
        self.begun = time.monotonic()
        self.running = [start(i) for i in range(count)]
        self.starts = [0.0] * count
        self.ready = {}
        self.killed = []

    def replace_at(self, times):
        """Peer i, times[i] seconds from now."""
        self.deaths = sorted(((when, i) for i, when in times.items()), reverse=True)

    deaths = ()

    def look(self):
        now = time.monotonic() - self.begun
        if self.deaths and now >= self.deaths[-1][0]:
            self.replace(self.deaths.pop()[1], now)
        for i, peer in enumerate(self.running):
            if i not in self.ready and self.word in peer.out:
                self.ready[i] = now - self.starts[i]
            elif not peer.running():
                raise AssertionError(f"a peer exits {peer.popen.returncode}: {peer.done().last}")
        return not self.deaths and len(self.ready) == len(self.running)

    def replace(self, i, now):
        self.killed.append(self.running[i])
        self.running[i].kill()
        self.ready.pop(i, None)
        self.running[i] = self.start(i)
        self.starts[i] = now

    def wait(self):
        wait_until(self.look, "all peers ready", LONG)
        return [self.ready[i] for i in range(len(self.running))]


def used(seeder, peers):
    return {"cpu": (cpu_of(seeder), sum(map(cpu_of, peers))), "resident": (peak_resident(seeder), max(map(peak_resident, peers)))}


def sent_to(peer):
    """Bytes that a peer has had from the seeder, also one that was killed."""
    event = peer.done().event("ready") or peer.done().event("progress")
    return event["from_origin"] if event else 0


def run_shoal(scenario, network, cluster, model):
    revision = cluster.publish(model, "--in-place", deadline=LONG)
    on = network.prefix

    def zone(i):
        return ["--zone", f"zone-{network.zone(i)}"] if scenario.zones > 1 else []

    def start(i):
        places.append(cluster.path(f"dest-{len(places)}"))
        return cluster.start_fetch(places[-1], "--linger", "10m", *zone(i + 1), prefix=on(i + 1), revision=revision, listen=f"{network.address(i + 1)}:6881",
                                   interval="100ms" if scenario.replaced else "10s")

    places = []
    tracker = cluster.start_tracker(listen=f"{network.address(0)}:7000", prefix=on(0))
    seeder = cluster.start(Server, "seeder", [*on(0), SEEDER, "serve", "--store", cluster.store_url, "--tracker", tracker.url, "--listen", f"{network.address(0)}:6881",
                                              "--http", f"{network.address(0)}:8081", *zone(0)])
    seeder.address()
    before = network.crossed()
    peers = Peers('"event":"verified"', start, scenario.peers)  # as with the others: not synced yet
    replaced = int(scenario.peers * scenario.replaced)
    peers.replace_at({i: scenario.size / scenario.up[0] * (0.1 + 0.8 * i / replaced) for i in range(replaced)})
    seconds = peers.wait()
    crossed = network.crossed() - before
    for peer in peers.running:
        peer.wait_for_event("ready")
    return Run(seconds, sum(map(sent_to, peers.running + peers.killed)), **used(seeder, peers.running), crossed=crossed)


def run_stock(role, scenario, network, cluster, model):
    """Each dials the seeder and all that were started before it, so that everybody is connected to everybody."""
    torrent = cluster.path("stock.torrent")
    subprocess.run([*STOCK, "make", model / "weights.bin", torrent, str(256 << 10)], check=True)
    addresses = [f"{network.address(i)}:6881" for i in range(scenario.peers + 1)]

    def start(i, role, directory):
        directory.mkdir(exist_ok=True)
        return cluster.start(Process, f"{role}-{i}", [*network.prefix(i), *STOCK, "host", torrent, directory, addresses[i], role, *addresses[:i]])

    seeder = start(0, role, model)
    wait_until(lambda: "ready" in seeder.out, "the seeder is ready", LONG)
    peers = Peers("ready", lambda i: start(i + 1, "leech", cluster.path(f"stock-{i}")), scenario.peers)
    seconds = peers.wait()
    spent = used(seeder, peers.running)
    seeder.signal(signal.SIGTERM)
    seeder.wait(30)
    return Run(seconds, int(seeder.out.split()[-1]), **spent)


SYSTEMS = {"shoal": run_shoal, "stock": functools.partial(run_stock, "seed"), "super-seeding": functools.partial(run_stock, "super")}


def delay_all(network, cluster, milliseconds):
    """On the receiving side of each host."""
    program = pathlib.Path(os.environ["SHOAL_BUILD"]) / "tests/bench_delay"
    for i in range(network.hosts):
        queue = ["iptables", "-A", "INPUT", "-i", "eth0", "-j", "NFQUEUE", "--queue-num", "0", "--queue-bypass"]
        subprocess.run([*network.prefix(i), *queue], check=True)
        cluster.start(Process, f"delay-{i}", [*network.prefix(i), program, str(milliseconds)])


def measure(scenario, system):
    network = Network(scenario.peers + 1, scenario.zones)
    cluster = Cluster()
    try:
        for i, up in enumerate(uplinks(scenario)):
            network.shape(i, up, scenario.down[i % len(scenario.down)])
        if scenario.zones > 1:
            network.shape_borders(scenario.up[0])
        if scenario.delay:
            delay_all(network, cluster, scenario.delay)
        share = network.stream_rate(1, 1 + scenario.zones) / min(uplinks(scenario)[1], scenario.down[0] or 1e18)
        model = make_file(cluster.path("model/weights.bin"), scenario.size).parent
        took = SYSTEMS[system](scenario, network, cluster, model)
    finally:
        cluster.close()
        network.close()
    least = bound(scenario, share)
    moved = scenario.size * scenario.peers / 1e9
    return {"scenario": scenario.name, "system": system, "bound": least, "last": max(took.seconds) / least, "median": statistics.median(took.seconds) / least,
            "copies": took.origin / scenario.size, "crossed": took.crossed / scenario.size / max(1, scenario.zones - 1), "seeder_cpu_per_gb": took.cpu[0] / (took.origin / 1e9), "peer_cpu_per_gb": took.cpu[1] / moved,
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
    print("| scenario | system | bound | last / bound | must | median / bound | origin copies | into each other zone | CPU a GB, seeder, peer | MiB, seeder, peer |\n|---|---|---|---|---|---|---|---|---|---|",
          flush=True)
    results = []
    for scenario in SCENARIOS:
        if asked.scenarios and scenario.name not in asked.scenarios:
            continue
        runs = {system: [] for system in asked.systems if scenario.rivals or system == "shoal"}
        for _ in range(asked.runs):  # one after the other, so that a slow minute of the machine is everybody's
            for system, found in runs.items():
                found.append(measure(scenario, system))
        for system, found in runs.items():
            row = median_of_runs(found)
            across = f"{row['crossed']:.3f}" if scenario.zones > 1 else ""
            row |= {"across": across, "must": f"{scenario.must:.2f}" if system == "shoal" else "", "runs": found}
            results.append(row)
            print("| {scenario} | {system} | {bound:.1f} s | {last:.3f} | {must} | {median:.3f} | {copies:.3f} | {across} | {seeder_cpu_per_gb:.2f} s, {peer_cpu_per_gb:.2f} s | {seeder_mib:.0f}, {peer_mib:.0f} |"
                  .format(**row), flush=True)
    if asked.json:
        asked.json.write_text(json.dumps(results, indent=2))


if __name__ == "__main__":
    main()
