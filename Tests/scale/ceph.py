"""Ceph on this machine: one monitor, one disk in memory, one gateway that speaks S3."""

import subprocess
import uuid
from xml.etree import ElementTree

from engine import BUCKET, SECRET, Engine, free_ports

CONFIGURATION = """
[global]
fsid = {fsid}
mon host = v2:127.0.0.1:{monitor}/0
auth cluster required = none
auth service required = none
auth client required = none
run dir = {folder}
admin socket = {folder}/$name.asok
pid file = {folder}/$name.pid
log file = {folder}/$name.log
crash dir = {folder}
public addr = 127.0.0.1
cluster addr = 127.0.0.1
ms bind ipv6 = false
osd crush chooseleaf type = 0
osd pool default size = 1
osd pool default min size = 1
osd pool default pg num = 4
osd pool default pgp num = 4
osd pool default pg autoscale mode = off
mon allow pool size one = true
mon max pg per osd = 1000
mon data avail crit = 1
mon data avail warn = 1
mon warn on pool no redundancy = false
osd class update on start = true
[mon]
mon data = {folder}/mon
mon cluster log file = {folder}/cluster.log
[osd]
osd data = {folder}/osd
osd objectstore = memstore
memstore device bytes = {bytes}
osd max object name len = 256
osd max object namespace len = 64
[client]
rgw data = {folder}/rgw
rgw thread pool size = 64
# Its own choice needs keys.
ms mon client mode = crc
debug rgw = 1/1
"""


class Ceph(Engine):
    """A cluster in a folder."""

    access = "ziggurat"

    def __init__(self):
        super().__init__("ceph")
        monitor, self.port = free_ports(2)
        self.fsid = str(uuid.uuid4())
        self.monitor = f"v2:127.0.0.1:{monitor}"
        for name in ("mon", "osd", "rgw"):
            (self.folder / name).mkdir()
        self.configuration = self.folder / "ceph.conf"
        self.configuration.write_text(
            CONFIGURATION.format(fsid=self.fsid, monitor=monitor, folder=self.folder, bytes=16 << 30))
        self.log = self.folder / "client.rgw.a.log"

    def run(self, *arguments: str) -> None:
        done = subprocess.run([arguments[0], "-c", self.configuration, *arguments[1:]], capture_output=True, text=True, timeout=120)
        if done.returncode:
            raise RuntimeError(f"{' '.join(arguments)}: {done.stderr[-2000:]}")

    def begin_gateway(self) -> None:
        self.gateway = self.begin_one("a", self.port)

    def begin_another_gateway(self) -> int:
        """One more, beside the first, of the same objects; its port."""
        port = free_ports(1)[0]
        self.begin_one("b", port)
        return port

    def begin_one(self, name: str, port: int) -> subprocess.Popen:
        return self.begin("radosgw", "-c", self.configuration, "-f", "-n", f"client.rgw.{name}",
                          f"--rgw-frontends=beast endpoint=127.0.0.1:{port} tcp_nodelay=1")

    def begin_all(self) -> None:
        map_file = str(self.folder / "monmap")
        self.run("monmaptool", "--create", "--clobber", "--addv", "a", f"[{self.monitor}]", "--fsid", self.fsid, map_file)
        self.run("ceph-mon", "--mkfs", "-i", "a", "--monmap", map_file, "--keyring", "/dev/null")
        self.begin("ceph-mon", "-c", self.configuration, "-f", "-i", "a")
        disk = str(uuid.uuid4())
        self.run("ceph", "osd", "new", disk)
        self.run("ceph-osd", "-i", "0", "--mkfs", "--osd-uuid", disk)
        self.begin("ceph-osd", "-c", self.configuration, "-f", "-i", "0")
        self.begin_gateway()
        self.wait_until_it_answers()
        self.run("radosgw-admin", "user", "create", "--uid=ziggurat", "--display-name=ziggurat",
                 f"--access-key={self.access}", f"--secret-key={SECRET}")

    def curl(self, path: str, *options: str) -> bytes:
        arguments = ["curl", "--silent", "--show-error", "--fail", "--aws-sigv4", "aws:amz:us-east-1:s3", "--user", f"{self.access}:{SECRET}",
                 "--header", "x-amz-content-sha256: UNSIGNED-PAYLOAD", *options, f"{self.endpoint}/{BUCKET}{path}"]
        return subprocess.run(arguments, check=True, stdout=subprocess.PIPE).stdout

    def make_bucket(self) -> None:
        self.curl("", "--request", "PUT")

    def get(self, key: str) -> bytes:
        return self.curl(f"/{key}")

    def keys(self) -> list[str]:
        """Of all objects, as long as they are no more than a list has."""
        page = ElementTree.fromstring(self.curl(""))
        return [key.text for key in page.iter() if key.tag.endswith("}Key") or key.tag == "Key"]
