"""packaging/compose-single.yaml: Compose reads it, and what its containers run builds, serves, and keeps metrics to itself."""

import ipaddress
import os
import re
import subprocess
import unittest

import yaml

from fronts import free_port
from harness import ROOT, Server, folder, photo, run

PACKAGING = ROOT / "packaging"


def composed(path=PACKAGING / "compose-single.yaml", **settings) -> subprocess.CompletedProcess:
    """What Compose makes of the file, with all of its profiles."""
    environment = {"PATH": os.environ["PATH"], "HOME": "/", "LANG": "C.UTF-8", "COMPOSE_PROFILES": "build", "SITE": "images.example.org", "PHOTOS": "/srv/pictures"}
    return subprocess.run(["docker-compose", "--file", path, "config"], capture_output=True, text=True, env=environment | settings)


class SingleServer(unittest.TestCase):
    def test_compose_takes_the_file_and_its_parts_agree(self):
        result = composed()
        self.assertEqual(result.returncode, 0, result.stderr)
        for missing in ("SITE", "PHOTOS"):
            self.assertNotEqual(composed(**{missing: ""}).returncode, 0, missing)
        whole = yaml.safe_load(result.stdout)
        services = whole["services"]
        self.assertEqual(set(services), {"server", "build", "proxy"})
        # Compose names only the image of a service that it does not build, which is one that others publish.
        self.assertRegex(services["proxy"]["image"], r"^[a-z]+:\d+\.\d+")
        proxy = services["proxy"]["networks"]["inside"]["ipv4_address"]
        self.assertIn(f"--trusted-proxy={proxy}", services["server"]["command"])
        self.assertIn(ipaddress.ip_address(proxy), ipaddress.ip_network(whole["networks"]["inside"]["ipam"]["config"][0]["subnet"]))
        self.assertEqual(set(services["server"]["networks"]), {"inside"})
        self.assertIn("reverse_proxy server:8080", (PACKAGING / "compose-single.Caddyfile").read_text())
        text = (PACKAGING / "compose-single.yaml").read_text()
        for file in re.findall(r"- \./(\S+?):", text):
            self.assertTrue((PACKAGING / file).exists(), file)
        image = (PACKAGING / "Dockerfile").read_text()
        self.assertIn("/usr/local/share/ziggurat/public", image)
        self.assertIn('ENTRYPOINT ["/usr/local/bin/ziggurat"]', image)

    def test_what_its_containers_run(self):
        services = yaml.safe_load(composed().stdout)["services"]
        base, monitor = folder("single"), free_port()
        photo(base / "photos/one.jpg", 900, 700)

        def here(word: str) -> str:
            for pattern, value in ((r"^/library$", str(base / "library")), (r"^/photos$", str(base / "photos")), (r"^--host=.*", "--host=127.0.0.1"),
                                   (r"^(--trusted-proxy)=.*", r"\1=127.0.0.1"), (r"^(--metrics-listen)=.*", rf"\1=127.0.0.1:{monitor}"),
                                   (r"^(--webroot)=.*", rf"\1={ROOT}/public")):
                word = re.sub(pattern, value, word)
            return word

        built = run(*map(here, services["build"]["command"]))
        self.assertEqual(built.returncode, 0, built.stderr)
        command = list(map(here, services["server"]["command"]))
        self.assertEqual(command[0], "serve")
        with Server(*command[1:]) as server:
            self.assertEqual(server.get("/dzi/one_files/9/0_0.jpg").status, 200)
            document = server.get("/iiif/3/one/info.json")
            self.assertIn(b'"https://images.example.org/iiif/3/one"', document.body)
            self.assertEqual(server.get("/metrics").status, 404)
            server.port = monitor
            self.assertEqual(server.get("/metrics").status, 200)


if __name__ == "__main__":
    unittest.main()
