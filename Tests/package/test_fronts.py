"""The files of packaging/ for proxies and caches, put where the documents say, path for path, on a Debian that boots.

Needs root. PACKAGE names the package, which brings the files.
"""

import os
import re
import unittest
from pathlib import Path

from machine import Machine

from harness import ROOT, photo

PACKAGE = Path(os.environ["PACKAGE"])
EXAMPLES = "/usr/share/doc/ziggurat/examples"
PAGE = (ROOT / "docs/how-to/fleet-cache.md").read_text()
HOST = "images.example.org"
# The name leads to the machine itself, and its authority is believed.
CURL = f"curl --silent --show-error --cacert /root/ca.pem --resolve {HOST}:443:127.0.0.1 --resolve {HOST}:80:127.0.0.1 --max-time 30"


def steps(first: str) -> str:
    """The block of docs/how-to/fleet-cache.md for root that begins with this."""
    return next(block for block in re.findall(r"```sh as-root\n(.*?)```", PAGE, re.DOTALL) if block.startswith(first))


class Fronts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.machine = Machine(PACKAGE)
        cls.machine.prepare()
        for name in ("one", "two"):
            photo(cls.machine.root / f"srv/front/{name}.jpg", 900, 700, left=10 * len(name) + ord(name[0]))
        cls.machine.boot()
        cls.addClassCleanup(cls.machine.stop)
        cls.shell = cls.machine.shell
        cls.shell(f"""systemctl disable --now ziggurat.service; rm -rf /var/lib/ziggurat/* /root/library /etc/nginx/conf.d/* /etc/nginx/sites-enabled/*
mkdir --parents /etc/letsencrypt/live/{HOST}; cd /etc/letsencrypt/live/{HOST}
openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN={HOST} -addext subjectAltName=DNS:{HOST} -keyout privkey.pem -out fullchain.pem
cp fullchain.pem /root/ca.pem
ziggurat build /srv/front --library /root/library --quiet""")

    def tearDown(self):
        self.shell("""systemctl stop nginx caddy 'server-*' varnish-shipped ziggurat-edge-purge store slow || true
rm -rf /etc/nginx/conf.d/* /var/cache/ziggurat-* /var/lib/ziggurat-edge /etc/ziggurat-edge-key; systemctl reset-failed || true""", check=False)

    def serve(self, address: str, *options: str) -> None:
        name = address.replace(".", "-")
        self.shell(f"systemd-run --quiet --unit server-{name} ziggurat serve /root/library --host {address} --base-url https://{HOST} --trusted-proxy "
                   f"127.0.0.0/8,10.0.0.0/24 --webroot /usr/share/ziggurat/public {' '.join(options)}; "
                   f"curl --silent --retry 30 --retry-connrefused --retry-delay 1 --output /dev/null http://{address}:8080/healthz")

    def ask(self, target: str, *options: str, scheme: str = "https") -> tuple[int, dict[str, str]]:
        """The status and the headers of an answer."""
        lines = self.shell(f"{CURL} --output /dev/null --dump-header - {' '.join(options)} '{scheme}://{HOST}{target}'").stdout.splitlines()
        return int(lines[0].split()[1]), dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)

    def check_access(self) -> None:
        """What every front in front of everything does."""
        status, headers = self.ask("/dzi/one.dzi")
        self.assertEqual((status, headers["strict-transport-security"]), (200, "max-age=63072000"))
        self.assertEqual(self.ask("/metrics")[0], 403)
        status, headers = self.ask("/dzi/one.dzi?v=1", scheme="http")
        self.assertIn(status, (301, 308))
        self.assertEqual(headers["location"], f"https://{HOST}/dzi/one.dzi?v=1")

    def test_nginx(self):
        self.serve("127.0.0.1")
        self.shell(f"install -m 644 {EXAMPLES}/nginx.conf /etc/nginx/conf.d/ziggurat.conf; nginx -t; systemctl start nginx")
        self.check_access()
        self.shell("systemctl stop server-127-0-0-1")
        # Five browsers behind one address, each with a hundred requests at a time, of which none is answered before all are there.
        self.shell("""cat > /root/slow.py <<'PYTHON'
import asyncio
waiting, all_here = 0, None
async def answer(reader, writer):
    global waiting
    while await reader.readuntil(b"\\r\\n\\r\\n"):
        waiting += 1
        if waiting == 500: all_here.set()
        await all_here.wait()
        writer.write(b"HTTP/1.1 200 OK\\r\\nContent-Length: 2\\r\\n\\r\\nok")
        await writer.drain()
async def main():
    global all_here
    all_here = asyncio.Event()
    server = await asyncio.start_server(answer, "127.0.0.1", 8080, backlog=1024)
    await server.serve_forever()
asyncio.run(main())
PYTHON
systemd-run --quiet --unit slow python3 /root/slow.py; until ss --listening --tcp --numeric | grep -q 127.0.0.1:8080; do sleep 0.1; done""")
        statuses = self.shell(f"""for browser in 1 2 3 4 5; do
  {CURL} --http2 --parallel --parallel-max 100 --output /dev/null --write-out '%{{http_code}}\\n' 'https://{HOST}/dzi/one_files/[1-100]' &
done; wait""").stdout.split()
        self.assertEqual((len(statuses), set(statuses)), (500, {"200"}))

    def test_caddy(self):
        self.serve("127.0.0.1")
        # Its own authority, since that of the world is not to be reached.
        self.shell(f"""printf '{{\\n\\tlocal_certs\\n\\tskip_install_trust\\n}}\\nimport {EXAMPLES}/Caddyfile\\n' > /etc/caddy/Caddyfile
systemctl start caddy; until test -e /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt; do sleep 0.1; done
cp /root/ca.pem /root/other.pem; cp /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt /root/ca.pem
until {CURL} --output /dev/null https://{HOST}/healthz; do sleep 0.2; done""")
        try:
            self.check_access()
        finally:
            self.shell("mv /root/other.pem /root/ca.pem")

    def check_edge(self, purge: str, key: str) -> None:
        for number in (11, 12, 13):
            self.serve(f"10.0.0.{number}", "--purge-url", purge, "--purge-key-file", key)

        def forgets(name: str) -> None:
            generation = self.shell(f"curl --silent http://10.0.0.11:8080/api/images/{name} | grep --only-matching '\"generation\":\"[0-9a-f]*' | cut -d'\"' -f4").stdout.strip()
            tile = f"/dzi/{name}_files/9/0_0.jpg?v={generation}"
            for cached in ("miss", "hit"):
                status, headers = self.ask(tile)
                self.assertEqual((status, headers["x-cache"]), (200, cached), headers)
            self.shell(f"mv /root/library/{name}.szi /root/{name}.szi")
            self.shell(f"for turn in $(seq 150); do [ \"$({CURL} --output /dev/null --write-out '%{{http_code}}' 'https://{HOST}{tile}')\" != 404 ] || exit 0; sleep 0.2; done; exit 1")
            self.shell(f"mv /root/{name}.szi /root/library/{name}.szi")
            # The cache keeps the response that it is gone for a second.
            self.shell(f"until {CURL} --fail --output /dev/null https://{HOST}/dzi/{name}.dzi; do sleep 0.2; done")

        forgets("one")
        self.check_access()

    def test_the_edge_by_nginx(self):
        copying, starting = steps("apt-get install nginx-light python3"), steps("nginx -t")
        self.assertIn("systemctl enable --now ziggurat-edge-purge", starting)
        self.shell("systemctl start nginx")
        # The network is not needed: the packages are there. The files have this machine's addresses already.
        self.shell(f"cd {EXAMPLES}\n{copying}\n{starting}")
        self.check_edge("http://10.0.0.10:8081/", "/etc/ziggurat-edge-key")
        self.assertEqual(self.machine.run("systemctl", "is-active", "ziggurat-edge-purge").stdout, "active\n")

    def test_the_edge_by_varnish(self):
        block = steps("apt-get install varnish varnish-modules")
        # TLS ends in front, by Caddy as in compose.yaml.
        command = re.search(r"`varnishd (.*?)`", (ROOT / "packaging/varnish.vcl").read_text().replace("\n# ", " "))[1]
        # A test has no 50 GB for it.
        self.assertIn("-f varnish.vcl -a :6081", command)
        command = command.replace("-f varnish.vcl", f"-f {EXAMPLES}/varnish.vcl").replace("-s file,/var/cache/varnish/tiles,50G", "-s malloc,64m")
        # What comes to the cache comes from a server's address, as from another machine.
        self.shell("ip route replace table local local 10.0.0.10 dev lo proto kernel scope host src 10.0.0.11")
        self.shell(f"{block}\nsystemd-run --quiet --unit varnish-shipped varnishd -F -n /run/varnish-shipped {command}")
        self.shell(f"""install -m 644 {EXAMPLES}/compose.Caddyfile /root/door
printf '{{\\n\\tlocal_certs\\n\\tskip_install_trust\\n}}\\n' | cat - /root/door > /etc/caddy/Caddyfile
mkdir --parents /etc/systemd/system/caddy.service.d; printf '[Service]\\nEnvironment=SITE={HOST}\\n' > /etc/systemd/system/caddy.service.d/site.conf
systemctl daemon-reload; systemctl start caddy; until test -e /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt; do sleep 0.1; done
cp /root/ca.pem /root/other.pem; cp /var/lib/caddy/.local/share/caddy/pki/authorities/local/root.crt /root/ca.pem""")
        try:
            self.check_edge("http://10.0.0.10:6081/", "/etc/varnish/ziggurat-edge-key")
        finally:
            self.shell("mv /root/other.pem /root/ca.pem; rm -r /etc/systemd/system/caddy.service.d; systemctl daemon-reload")

    def test_a_disk_in_front_of_a_store(self):
        self.shell("""cat > /root/store.py <<'PYTHON'
import http.server
class Store(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("/root/asked", "a").write(f"{self.path} {self.headers['Range']} {self.headers['Host']}\\n")
        whole = bytes(range(256)) * 8192
        first, last = map(int, self.headers["Range"].removeprefix("bytes=").split("-"))
        body = whole[first:last + 1]
        self.send_response(206)
        self.send_header("ETag", '"v"')
        self.send_header("Content-Range", f"bytes {first}-{first + len(body) - 1}/{len(whole)}")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
http.server.HTTPServer(("10.0.0.20", 7480), Store).serve_forever()
PYTHON
rm -f /root/asked; systemd-run --quiet --unit store python3 /root/store.py; until ss --listening --tcp --numeric | grep -q 10.0.0.20:7480; do sleep 0.1; done""")
        self.shell(f"install -m 644 {EXAMPLES}/nginx-store.conf /etc/nginx/conf.d/ziggurat-store.conf; nginx -t; systemctl start nginx")
        archive = f"http://127.0.0.1:8333/pictures/library/szi/ab/ab{62 * '0'}.szi"
        for _ in range(3):
            self.assertEqual(self.shell(f"curl --silent --range 1048600-1048603 {archive} | od -An -tx1").stdout.split(), ["18", "19", "1a", "1b"])
        self.assertEqual(len(self.shell("cat /root/asked").stdout.splitlines()), 1)
        self.assertEqual(self.shell(f"curl --silent --output /dev/null --write-out '%{{http_code}}' --request PUT --data x {archive}").stdout, "403")


if __name__ == "__main__":
    unittest.main()
