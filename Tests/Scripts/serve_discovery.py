"""serve_discovery.py FFMOUNT FFSERVE FOLDER: who announces a server, and who finds it.

Two machines in network namespaces of their own, joined by a cable, each with an Avahi daemon and a D-Bus of its own, of which nothing
else knows. Needs root. Prints what is not as it should be, and at the end "done"; "skipped: …" where such machines cannot be had.
"""
import json
import os
import re
import subprocess
import sys
import time

program, server, folder = sys.argv[1:]
BUS = """<!DOCTYPE busconfig PUBLIC "-//freedesktop//DTD D-BUS Bus Configuration 1.0//EN"
 "http://www.freedesktop.org/standards/dbus/1.0/busconfig.dtd">
<busconfig><type>system</type><listen>unix:path={path}</listen><policy context="default"><allow user="*"/><allow own="*"/>
<allow send_destination="*" eavesdrop="false"/><allow receive_sender="*"/></policy></busconfig>"""
AVAHI = """[server]
host-name={name}
allow-interfaces=cable
use-ipv4=yes
use-ipv6=yes
ratelimit-interval-usec=1000000
ratelimit-burst=1000
[wide-area]
enable-wide-area=no
[publish]
publish-hinfo=no
publish-workstation=no
[rlimits]
"""


class Machine:
    """A machine: namespaces of network and files, held by a process that sleeps."""

    def __init__(self, name, addresses):
        self.name, self.folder = name, os.path.join(folder, name)
        os.mkdir(self.folder)
        self.running = []
        self.bus = os.path.join(self.folder, "bus")
        self.holder = subprocess.Popen(
            ["unshare", "--net", "--mount", "--uts", "--propagation", "private", "sh", "-c",
             # The daemon keeps its process number in /run, whatever its configuration says.
             f"mount -t tmpfs tmpfs /run && mkdir /run/avahi-daemon && hostname {name} && ip link set lo up && echo ready && exec sleep 300"],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        said = self.holder.stdout.readline().strip()
        if said != "ready":
            skip(f"no namespaces here: {said}")
        self.addresses = addresses
        self.daemon = None

    def words(self, *words):
        return ["nsenter", "--net", "--mount", "--uts", "-t", str(self.holder.pid), "env", f"DBUS_SYSTEM_BUS_ADDRESS=unix:path={self.bus}",
                *words]

    def run(self, *words):
        return subprocess.run(self.words(*words), capture_output=True, text=True, timeout=30)

    def start(self, *words, output=subprocess.DEVNULL):
        process = subprocess.Popen(self.words(*words), stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.running.append(process)
        return process

    def plug(self):
        for address in self.addresses:
            # Nobody else is on the cable, so it takes no while to find out.
            self.run("ip", "addr", "add", address, "dev", "cable", *(["nodad"] if ":" in address else []))
        self.run("sysctl", "-q", "net.ipv6.conf.cable.accept_dad=0")
        self.run("ip", "link", "set", "cable", "up", "multicast", "on")

    def start_bus(self):
        with open(self.bus + ".conf", "w") as file:
            file.write(BUS.format(path=self.bus))
        self.bus_process = self.start("dbus-daemon", "--nofork", "--nopidfile", f"--config-file={self.bus}.conf")
        until(lambda: os.path.exists(self.bus), "D-Bus")

    def start_avahi(self, name=None):
        with open(os.path.join(self.folder, "avahi.conf"), "w") as file:
            file.write(AVAHI.format(name=name or self.name))
        self.log = open(os.path.join(self.folder, "avahi.log"), "ab")
        self.daemon = self.start("avahi-daemon", "-f", os.path.join(self.folder, "avahi.conf"), "--no-drop-root", "--no-chroot",
                                 "--no-rlimits", output=self.log)

    def stop(self, process):
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running.remove(process)

    def end(self):
        for process in self.running[::-1]:
            self.stop(process)
        self.holder.kill()
        self.holder.wait()

    def serve(self, source, *options):
        """ffserve, once it says where it is; what it prints on standard error is in `said`."""
        process = subprocess.Popen(self.words(server, source, "--port", "0", *options), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=open(os.path.join(self.folder, "said"), "ab"))
        self.running.append(process)
        for line in process.stdout:
            found = re.search(rb":(\d+)/dav/", line)
            if found:
                process.port = int(found.group(1))
                return process
        raise SystemExit("the server ended")

    def said(self):
        with open(os.path.join(self.folder, "said")) as file:
            return file.read()

    def browse(self, kind):
        """What avahi-browse resolves: {(name, family): (host, address, port, TXT)}."""
        lines = self.run("avahi-browse", "-rtp", kind).stdout.splitlines()
        rows = [line.split(";") for line in lines if line.startswith("=")]
        return {(unescaped(row[3]), row[2]): (row[6], row[7], int(row[8]), row[9]) for row in rows}

    def discover(self, *options):
        got = self.run(program, "discover", "--json", *options)
        if got.returncode:
            raise AssertionError(got.stdout + got.stderr)
        return json.loads(got.stdout)


def skip(reason):
    print(f"skipped: {reason}")
    sys.exit()


def unescaped(text):
    """Of a name with its bytes as decimal numbers."""
    return re.sub(r"\\(\d{3})", lambda found: chr(int(found.group(1))), text).encode("latin-1").decode()


def same(what, found, wanted):
    if found != wanted:
        print(f"{what}: {str(found)[:600]!r} instead of {str(wanted)[:400]!r}")


def until(condition, what, seconds=15):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        got = condition()
        if got:
            return got
        time.sleep(.1)
    print(f"{what}: not within {seconds} s")
    return None


def names(machine):
    return sorted(found["name"] for found in machine.discover())


def check(here, there):
    archive = os.path.join(folder, "Ärchive")
    os.mkdir(archive)
    # Nothing answers: that is no matter to a server, and said to who looks for one.
    served = here.serve(archive, "--host", "::", "--no-token")
    got = there.run(program, "discover", "--json", "--timeout", "1")
    same("without a daemon", (got.returncode, "install and start avahi-daemon" in json.loads(got.stdout)["error"]), (1, True))
    same("nothing is said", here.said(), "")

    # They start later than the server.
    for machine in (here, there):
        machine.start_bus()
        machine.start_avahi()
    until(lambda: there.run("avahi-browse", "-tp", "_browsey._tcp").returncode == 0, "the other daemon")
    found = until(lambda: len(there.browse("_browsey._tcp")) > 1 and there.browse("_browsey._tcp"), "announced", 30) or {}
    name = "Ärchive on here"
    text = '"token=0" "scheme=http" "path=/" "version=1"'
    for family in ("IPv4", "IPv6"):
        host, address, port, texts = found.get((name, family), ("", "", 0, ""))
        same(f"by {family}", (host, port, sorted(texts.split())), ("here.local", served.port, sorted(text.split())))
    found = there.browse("_webdav._tcp")
    same("WebDAV", {key: (row[2], row[3]) for key, row in found.items()},
         {(name, "IPv4"): (served.port, '"path=/dav/"'), (name, "IPv6"): (served.port, '"path=/dav/"')})
    until(lambda: f"announced in the local network as “{name}”" in here.said(), "it is said")

    # It is found, where it is, and can be asked there.
    found = there.discover()
    same("found", [(one["name"], one["host"], one["port"], one["path"], one["scheme"], one["version"], one["token"]) for one in found],
         [(name, "here.local", served.port, "/", "http", "1", False)])
    addresses = found[0]["addresses"] if found else []
    same("its addresses", ["10.77.0.1" in addresses, any(":" in address for address in addresses)], [True, True])
    for url in found[0]["urls"] if found else []:
        same(url, there.run("curl", "-sg", "-o", "/dev/null", "-w", "%{http_code}", "--max-time", "5", url + "api/list").stdout, "200")
    text = there.run(program, "discover").stdout
    same("for people", text.splitlines()[:2], [name, f"  http://10.77.0.1:{served.port}/"])

    # Another of that name has another, and the name of the machine is one that the server goes by.
    other = here.serve(archive, "--host", "0.0.0.0", "--token", "long-enough-token")
    until(lambda: names(there) == [name, f"{name} #2"], "two of one name")
    second = next((one for one in there.discover() if one["port"] == other.port), {})
    same("the second", (second.get("token"), second.get("addresses")), (True, ["10.77.0.1"]))
    for host, status in (("here.local", "200"), ("elsewhere.local", "421")):
        same(f"asked as {host}", there.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", f"Host: {host}:{served.port}",
             f"http://10.77.0.1:{served.port}/api/list").stdout, status)
    # On one address of the machine alone.
    here.stop(other)
    until(lambda: names(there) == [name], "the end of the second")
    other = here.serve(archive, "--host", "10.77.0.1", "--no-token")
    until(lambda: names(there) == [name, f"{name} #2"], "one address")

    # A machine whose name another one has is called otherwise, and its server goes by that, too.
    there.stop(there.daemon)
    there.start_avahi("here")
    third = there.serve(archive, "--host", "0.0.0.0", "--no-token")
    found = until(lambda: [one for one in here.discover() if one["name"] == "Ärchive on there"], "a machine with a taken name") or [{}]
    same("its name", found[0].get("host"), "here-2.local")
    same("asked by it", here.run("curl", "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Host: here-2.local",
         f"http://10.77.0.2:{third.port}/api/list").stdout, "200")
    there.stop(third)
    until(lambda: names(there) == [name, f"{name} #2"], "its end")

    # Those that are not to be found.
    for options in (["--host", "127.0.0.1"], ["--host", "localhost"], ["--host", "::1"], ["--host", "0.0.0.0", "--no-bonjour"]):
        here.serve(archive, "--no-token", *options)
    time.sleep(2)
    same("who is silent", names(there), [name, f"{name} #2"])

    # The daemon starts again, then D-Bus, which takes the daemon along.
    here.stop(here.daemon)
    until(lambda: names(there) == [], "the daemon's end")
    here.start_avahi()
    until(lambda: len(names(there)) == 2, "the daemon's return", 30)
    here.stop(here.bus_process)
    here.stop(here.daemon)
    if os.path.exists(here.bus):
        os.unlink(here.bus)
    here.start_bus()
    here.start_avahi()
    until(lambda: len(names(there)) == 2, "D-Bus's return", 60)

    # One that is told to end withdraws what it said; one that is killed has it withdrawn.
    here.stop(other)
    until(lambda: len(names(there)) == 1, "withdrawn", 5)
    served.kill()
    served.wait()
    here.running.remove(served)
    until(lambda: names(there) == [], "killed", 5)
    same("for people", there.run(program, "discover").stdout, "No server announces itself in the local network.\n")
    same("misuse", there.run(program, "discover", "--timeout", "0").returncode, 64)


machines = []
try:
    machines += [Machine("here", ["10.77.0.1/24", "fd77::1/64"]), Machine("there", ["10.77.0.2/24", "fd77::2/64"])]
    here, there = machines
    made = here.run("ip", "link", "add", "cable", "type", "veth", "peer", "name", "cable", "netns", str(there.holder.pid))
    if made.returncode:
        skip(f"no network cable: {made.stderr.strip()}")
    here.plug()
    there.plug()
    check(here, there)
finally:
    for machine in machines:
        machine.end()
print("done")
