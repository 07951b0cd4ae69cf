"""Hosts on one switch, as network namespaces whose links are shaped by tc tbf. Needs root; the names are the machine's, so one user at a time."""
import json
import subprocess

SWITCH = "shoalsw"


def ip(*words):
    subprocess.run(["ip", *map(str, words)], check=True, capture_output=True)


class Network:
    """`hosts` of them, numbered from 0, at address(i), in turn in one of the zones. Each zone has a switch of its own, behind a link to all others."""

    def __init__(self, hosts, zones=1):
        self.hosts = hosts
        self.zones = zones
        self.close()
        ip("netns", "add", SWITCH)
        for bridge in [f"br{zone}" for zone in range(zones)] + ["core"]:
            ip("-n", SWITCH, "link", "add", bridge, "type", "bridge")
            ip("-n", SWITCH, "link", "set", bridge, "up")
        for zone in range(zones):
            ip("-n", SWITCH, "link", "add", f"out{zone}", "type", "veth", "peer", "name", f"in{zone}")
            ip("-n", SWITCH, "link", "set", f"out{zone}", "master", f"br{zone}", "up")
            ip("-n", SWITCH, "link", "set", f"in{zone}", "master", "core", "up")
        for i in range(hosts):
            name = self.name(i)
            ip("netns", "add", name)
            ip("link", "add", f"p{i}", "netns", SWITCH, "type", "veth", "peer", "name", "eth0", "netns", name)
            ip("-n", SWITCH, "link", "set", f"p{i}", "master", f"br{self.zone(i)}", "up")
            ip("-n", name, "link", "set", "lo", "up")
            ip("-n", name, "addr", "add", f"{self.address(i)}/16", "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")

    @staticmethod
    def name(i):
        return f"shoalh{i}"

    def zone(self, i):
        return i % self.zones

    @staticmethod
    def address(i):
        return f"10.78.{i // 200}.{i % 200 + 1}"

    def prefix(self, i):
        """A command that becomes what follows, on that host."""
        return ["nsenter", f"--net=/run/netns/{self.name(i)}"]

    def shape(self, i, up=None, down=None):
        """Bytes a second; None: as fast as the machine goes."""
        self.limit(self.name(i), "eth0", up)
        self.limit(SWITCH, f"p{i}", down)

    def shape_borders(self, rate):
        """Bytes a second out of each zone, and into it."""
        for zone in range(self.zones):
            self.limit(SWITCH, f"out{zone}", rate)
            self.limit(SWITCH, f"in{zone}", rate)

    @staticmethod
    def limit(namespace, device, rate):
        if rate:
            shape = ["tbf", "rate", f"{rate * 8:.0f}bit", "burst", "256kb", "latency", "50ms"]
            subprocess.run(["tc", "-n", namespace, "qdisc", "replace", "dev", device, "root", *shape], check=True)

    def crossed(self):
        """Bytes that have left a zone for another, with all headers."""
        links = subprocess.run(["ip", "-n", SWITCH, "-s", "-j", "link"], check=True, capture_output=True, text=True).stdout
        return sum(link["stats64"]["tx"]["bytes"] for link in json.loads(links) if link["ifname"].startswith("out"))

    def stream_rate(self, source, sink, seconds=3):
        """Bytes a second that one TCP stream gets from one host to the other."""
        listen = ("import socket,sys,time\ns=socket.create_server((sys.argv[1],7001));print('up',flush=True);c,_=s.accept();n=0;b=bytearray(1<<20)\n"
                  "early=time.monotonic()+0.5\n"
                  "while time.monotonic()<early: c.recv_into(b)\n"
                  "begun=time.monotonic();end=begun+float(sys.argv[2])\n"
                  "while time.monotonic()<end: n+=c.recv_into(b)\nprint(n/(time.monotonic()-begun),flush=True)")
        send = "import socket,sys\nc=socket.create_connection((sys.argv[1],7001));b=bytes(1<<20)\ntry:\n  while True: c.sendall(b)\nexcept OSError: pass"
        receiver = subprocess.Popen([*self.prefix(sink), "python3", "-c", listen, self.address(sink), str(seconds)], stdout=subprocess.PIPE, text=True)
        receiver.stdout.readline()
        sender = subprocess.Popen([*self.prefix(source), "python3", "-c", send, self.address(sink)])
        rate = float(receiver.stdout.readline())
        sender.kill()
        sender.wait()
        receiver.wait()
        return rate

    def close(self):
        names = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True).stdout.split()
        for name in names:
            if name == SWITCH or name.startswith("shoalh"):
                subprocess.run(["ip", "netns", "del", name], check=False)
