"""OpenStack Swift on this machine: each of its servers, one disk, which is a folder, and the s3api in front.

It takes no conditional PUT: what works here needs none.
"""

import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

from engine import BUCKET, SECRET, Engine, free_ports

# Both are part of the paths of objects.
HASHES = """
[swift-hash]
swift_hash_path_prefix = ziggurat
swift_hash_path_suffix = ziggurat
[storage-policy:0]
name = one
default = yes
"""

COMMON = """
[DEFAULT]
bind_ip = 127.0.0.1
bind_port = {port}
user = root
swift_dir = {folder}
log_address = {folder}/nowhere
workers = {workers}
"""

SERVER = COMMON + """
log_level = ERROR
devices = {folder}/disks
mount_check = false
recon_cache_path = {folder}
disable_fallocate = true
fallocate_reserve = 0
[pipeline:main]
pipeline = {name}-server
[app:{name}-server]
use = egg:swift#{name}
"""

# What eventlet has to say is the log of requests.
PROXY = COMMON + """
eventlet_debug = true
[pipeline:main]
pipeline = catch_errors cache s3api tempauth bulk slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:tempauth]
use = egg:swift#tempauth
user_ziggurat_tester = {secret} .admin
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:{memory}
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
[filter:catch_errors]
use = egg:swift#catch_errors
"""


class Swift(Engine):
    """All of it in a folder."""

    access = "ziggurat:tester"

    def __init__(self):
        super().__init__("swift")
        self.port, self.memory, *ports = free_ports(5)
        self.servers = dict(zip(("account", "container", "object"), ports))
        (self.folder / "disks/disk").mkdir(parents=True)
        (self.folder / "swift.conf").write_text(HASHES)
        for name, port in self.servers.items():
            self.configuration(name).write_text(SERVER.format(name=name, port=port, folder=self.folder, workers=1))
        self.configuration("proxy").write_text(
            PROXY.format(port=self.port, folder=self.folder, workers=0, memory=self.memory, secret=SECRET))
        self.log = self.folder / "proxy.log"

    def configuration(self, name: str) -> Path:
        return self.folder / f"{name}-server.conf"

    def begin_gateway(self) -> None:
        self.gateway = self.begin("swift-proxy-server", self.configuration("proxy"), "--verbose", output=self.log)

    def begin_all(self) -> None:
        for name, port in self.servers.items():
            for arguments in (("create", "4", "1", "0"), ("add", f"r1z1-127.0.0.1:{port}/disk", "1"), ("rebalance",)):
                done = subprocess.run(["swift-ring-builder", self.folder / f"{name}.builder", *arguments], capture_output=True, text=True)
                # 1 is a warning.
                if done.returncode > 1:
                    raise RuntimeError(f"swift-ring-builder: {done.stdout}{done.stderr}")
        self.begin("memcached", "-u", "root", "-l", "127.0.0.1", "-p", str(self.memory), "-m", "32")
        for name in self.servers:
            self.begin(f"swift-{name}-server", self.configuration(name))
        self.begin_gateway()
        self.wait_until_it_answers()

    def make_bucket(self) -> None:
        # By Swift's own interface: curl takes no name with a colon.
        headers = {"X-Storage-User": self.access, "X-Storage-Pass": SECRET}
        with urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/auth/v1.0", headers=headers)) as answer:
            place, token = answer.headers["X-Storage-Url"], answer.headers["X-Auth-Token"]
        # The proxy answers before the servers behind it do.
        for last in (*[False] * 100, True):
            try:
                return urllib.request.urlopen(urllib.request.Request(f"{place}/{BUCKET}", method="PUT", headers={"X-Auth-Token": token})).close()
            except urllib.error.HTTPError as error:
                if last or error.code != 503:
                    raise
            time.sleep(0.1)
