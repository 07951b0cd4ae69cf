#!/bin/bash
# A Ceph of one monitor, one store in memory and one S3 gateway, on loopback. usage: rgw.sh start DIR PID | rgw.sh stop DIR
# It ends, and DIR goes, when the process PID has ended, in whatever way. DIR/endpoint is where the gateway listens, DIR/tls-endpoint where it does so with
# TLS, as localhost by DIR/certificate.pem. `stop` ends what `start` began, whatever became of it; DIR keeps the logs.
# Key id AKIATEST0000000000AA, secret testsecrettestsecrettestsecrettestsecret.
set -euo pipefail

fail() {
  echo "rgw.sh: $1" >&2
  exit 1
}

# Ends a daemon by the pid it wrote, if that is still the daemon and not somebody who came after it.
end() {
  local pid
  pid=$(cat "$dir/run/$1.pid" 2>/dev/null) || return 0
  for signal in TERM KILL; do
    for _ in $(seq 40); do
      tr '\0' ' ' <"/proc/$pid/cmdline" 2>/dev/null | grep -q "^$2 " || { rm -f "$dir/run/$1.pid"; return 0; }
      kill "-$signal" "$pid" 2>/dev/null || true
      sleep 0.05
    done
  done
}

# Beside us until the one who asked is gone.
watch() {
  while kill -0 "$1" 2>/dev/null; do sleep 0.5; done
  stop
  rm -rf "$dir"
}

stop() {
  end client.rgw.a radosgw
  end osd.0 ceph-osd
  end mon.a ceph-mon
}

# Four in a row, below those that the kernel gives to others: a monitor whose port is taken lets all that follows wait for ever.
find_ports() {
  local attempt
  for attempt in $(seq 0 99); do
    port=$((10000 + (parent + attempt * 531) * 4 % 20000))
    [ -n "$(ss -Hltn "sport >= :$port and sport <= :$((port + 3))")" ] || return 0
  done
  fail "no free ports"
}

settings() {
  cat <<END
[global]
fsid = $fsid
keyring = $dir/keyring
mon initial members = a
mon host = $monitor
public network = 127.0.0.0/8
cluster network = 127.0.0.0/8
ms bind ipv6 = false
auth allow insecure global id reclaim = false
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
osd crush chooseleaf type = 0
osd crush update on start = false
osd objectstore = memstore
memstore device bytes = 4G
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail warn = 1
mon data avail crit = 1
paxos propose interval = 0.05
paxos min wait = 0.01
run dir = $dir/run
admin socket = $dir/run/\$name.asok
pid file = $dir/run/\$name.pid
log file = $dir/log/\$name.log
mon cluster log file = $dir/log/cluster.log
crash dir = $dir/log
[mon.a]
mon data = $dir/mon
[osd.0]
osd data = $dir/osd
[client.rgw.a]
rgw data = $dir/rgw
rgw frontends = beast endpoint=127.0.0.1:$port ssl_endpoint=127.0.0.1:$((port + 3)) ssl_certificate=$dir/certificate.pem ssl_private_key=$dir/key.pem tcp_nodelay=1
rgw dns name = localhost
rgw gc obj min wait = 5
END
}

start() {
  local tool
  for tool in ss ceph ceph-mon ceph-osd radosgw radosgw-admin curl openssl; do command -v "$tool" >/dev/null || fail "$tool is not installed; run scripts/setup test"; done
  stop
  rm -rf "$dir"
  find_ports
  local monitor="[v2:127.0.0.1:$((port + 2)),v1:127.0.0.1:$((port + 1))]"
  mkdir -p "$dir"/{mon,osd,rgw,run,log}
  trap '[ $? = 0 ] || stop' EXIT
  cd "$dir"
  fsid=$(cat /proc/sys/kernel/random/uuid)
  settings >ceph.conf
  export CEPH_CONF=$dir/ceph.conf
  {
    openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -addext subjectAltName=DNS:localhost -keyout key.pem -out certificate.pem
    ceph-authtool --create-keyring keyring --gen-key -n mon. --cap mon 'allow *'
    ceph-authtool keyring --gen-key -n client.admin --cap mon 'allow *' --cap osd 'allow *'
    ceph-authtool keyring --gen-key -n osd.0 --cap mon 'allow profile osd' --cap osd 'allow *'
    ceph-authtool keyring --gen-key -n client.rgw.a --cap mon 'allow rw' --cap osd 'allow rwx'
    monmaptool --create --addv a "$monitor" --fsid "$fsid" monmap
    ceph-mon --mkfs -i a --monmap monmap --keyring keyring
    ceph-mon -i a
    local id
    id=$(cat /proc/sys/kernel/random/uuid)
    timeout 60 ceph osd create "$id" 0
    timeout 60 ceph osd crush add osd.0 1.0 root=default host=here
    ceph-osd -i 0 --mkfs --osd-uuid "$id"
    ceph-osd -i 0
    radosgw -n client.rgw.a
  } >log/start.log 2>&1 || fail "a step failed; see $dir/log/start.log"
  local i
  for i in $(seq 300); do curl -s -m 2 -o /dev/null "http://127.0.0.1:$port/" && break || sleep 0.1; done
  [ "$i" -lt 300 ] || fail "the gateway does not answer; see $dir/log"
  radosgw-admin user create --uid=test --display-name=test --access-key=AKIATEST0000000000AA --secret=testsecrettestsecrettestsecrettestsecret \
    >log/user.log 2>&1 || fail "no user; see $dir/log/user.log"
  echo "http://127.0.0.1:$port" >endpoint
  echo "https://localhost:$((port + 3))" >tls-endpoint
  watch "$parent" </dev/null >/dev/null 2>&1 &
}

dir=${2:?usage: rgw.sh start DIR PID | rgw.sh stop DIR}
case $dir in /?*) ;; *) fail "DIR must be an absolute path" ;; esac
case $1 in
start) parent=${3:?PID} && start ;;
stop) stop ;;
*) fail "neither start nor stop: $1" ;;
esac
