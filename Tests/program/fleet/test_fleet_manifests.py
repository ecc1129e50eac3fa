"""The whole of packaging/compose.yaml and packaging/kubernetes: what their schemas ask for, that they agree with each other, and what they run."""

import copy
import json
import os
import re
import subprocess
import time
import unittest

import kubernetes_validate
import yaml
from databases import Database
from edges import Varnish
from fronts import free_port
from harness import ROOT, Server, folder, photo, run
from test_store import StoreTest

PACKAGING = ROOT / "packaging"
KINDS = ("catalog", "serve", "edge")
# Of what the manifests need the oldest, and the newest whose schemas there are.
VERSIONS = ("1.28", "1.37")
SETTINGS = {"SITE": "images.example.org", "LIBRARY": "s3://pictures/some/library", "CATALOG_PASSWORD": "x", "AWS_ACCESS_KEY_ID": "k",
            "AWS_SECRET_ACCESS_KEY": "s", "EDGE_KEY_FILE": "/nowhere/edge-key"}


def composed(path=PACKAGING / "compose.yaml", **settings):
    """What Compose makes of a file."""
    return subprocess.run(["docker-compose", "--file", path, "config"], capture_output=True, text=True,
                          env={"PATH": os.environ["PATH"], "HOME": "/", "LANG": "C.UTF-8", **SETTINGS, **settings})


def manifests(name: str) -> list[dict]:
    return list(yaml.safe_load_all((PACKAGING / f"kubernetes/{name}.yaml").read_text()))


def by_name(kind: str) -> dict[str, dict]:
    return {each["metadata"]["name"]: each for name in KINDS for each in manifests(name) if each["kind"] == kind}


def edge_command() -> list[str]:
    return json.loads(re.search(r"^CMD (.*)$", (PACKAGING / "Dockerfile.edge").read_text(), re.MULTILINE)[1])


class Arguments(unittest.TestCase):
    def options(self, arguments: list[str]) -> None:
        known = set(re.findall(r"--[a-z-]+", run("help", "serve", "--all").stdout))
        for option in (word.partition("=")[0] for word in arguments if word.startswith("--")):
            self.assertIn(option, known)

    def test_compose_takes_the_file_and_no_other(self):
        result = composed()
        self.assertEqual(result.returncode, 0, result.stderr)
        text = (PACKAGING / "compose.yaml").read_text()
        for number, (right, wrong) in enumerate((("restart: unless-stopped", "restarts: always"), ("retries: 30", "retries: many"),
                                                 ("condition: service_healthy", "condition: fine"), ("\"80:80\"", "\"80:eighty\""))):
            path = folder("slip") / "compose.yaml"
            self.assertIn(right, text)
            path.write_text(text.replace(right, wrong))
            with self.subTest(number):
                self.assertNotEqual(composed(path).returncode, 0)
        self.assertNotEqual(composed(CATALOG_PASSWORD="").returncode, 0)

    def test_compose_names_what_there_is(self):
        services = yaml.safe_load(composed().stdout)["services"]
        for service in services.values():
            if build := service.get("build"):
                self.assertEqual(os.path.realpath(build["context"]), str(ROOT))
                self.assertTrue((ROOT / build["dockerfile"]).exists())
        servers = [services[f"server-{number}"] for number in (1, 2, 3)]
        for server in servers:
            self.options(server["command"])
        addresses = [server["networks"]["inside"]["ipv4_address"] for server in servers]
        vcl = (PACKAGING / "varnish.vcl").read_text()
        self.assertEqual(re.findall(r'\.host = "(.*?)"; \.port = "8080"', vcl), 2 * addresses)
        self.assertEqual(re.findall(r'^  "(10\..*)";$', vcl, re.MULTILINE), addresses)
        edge = services["edge"]["networks"]["inside"]["ipv4_address"]
        self.assertIn(f"--purge-url=http://{edge}:6081/", servers[0]["command"])
        front = (PACKAGING / "compose.Caddyfile").read_text()
        self.assertIn(f"reverse_proxy {edge}:6081\n", front)
        self.assertIn("header Strict-Transport-Security", front)
        self.assertIn("./compose.Caddyfile:/etc/caddy/Caddyfile:ro", (PACKAGING / "compose.yaml").read_text())
        self.assertEqual(services["proxy"]["environment"]["SITE"], SETTINGS["SITE"])
        secret = next(word.partition("=")[2] for word in servers[0]["command"] if word.startswith("--purge-key-file="))
        self.assertEqual(secret, f"/run/secrets/{servers[0]['secrets'][0]['source']}")
        self.assertIn(services["edge"]["secrets"][0]["target"], vcl)
        self.assertIn(":6081", edge_command())
        options = [word for word in re.search(r"`varnishd (.*)`", vcl.replace("\n# ", " "))[1].split() if "=" in word or "," in word]
        self.assertEqual([word for word in options if word not in edge_command()], [])

    def test_kubernetes_manifests_are_what_the_schemas_ask_for_and_slips_are_not(self):
        for name in KINDS:
            for each in manifests(name):
                for version in VERSIONS:
                    with self.subTest(f"{name}, {each['kind']}, {version}"):
                        kubernetes_validate.validate(each, version, strict=True)
        slips = (lambda one: one["spec"].update(replica=3), lambda one: one["spec"].update(replicas="3"), lambda one: one.update(kind="Sets"),
                 lambda one: one["spec"]["template"]["spec"]["containers"][0].pop("name"))
        for number, slip in enumerate(slips):
            one = copy.deepcopy(manifests("serve")[0])
            slip(one)
            with self.subTest(number), self.assertRaises((kubernetes_validate.ValidationError, kubernetes_validate.SchemaNotFoundError)):
                kubernetes_validate.validate(one, VERSIONS[-1], strict=True)

    def test_kubernetes_manifests_agree(self):
        services, sets = by_name("Service"), by_name("StatefulSet") | by_name("Deployment")
        labels = [one["spec"]["template"]["metadata"]["labels"] for one in sets.values()]
        for one in sets.values():
            self.assertEqual(one["spec"]["selector"]["matchLabels"], one["spec"]["template"]["metadata"]["labels"])
            if "serviceName" in one["spec"]:
                self.assertIn(one["spec"]["serviceName"], services)
        pods = {f"ziggurat-serve-{number}" for number in range(sets["ziggurat-serve"]["spec"]["replicas"])}
        for name, service in services.items():
            selector = service["spec"]["selector"]
            pod = selector.get("statefulset.kubernetes.io/pod-name")
            self.assertTrue(pod in pods and pod == name if pod else selector in labels, name)
        pod = sets["ziggurat-serve"]["spec"]["template"]["spec"]
        arguments = pod["containers"][0]["args"]
        self.options(arguments)
        self.assertIn("--purge-url=http://ziggurat-edge:6081/", arguments)
        self.assertEqual(services["ziggurat-edge"]["spec"]["ports"][0]["port"], 6081)
        page = (PACKAGING / "kubernetes/README.md").read_text()
        made = set(re.findall(r"--from-literal=([a-z-]+)=", page)) - {"edge-key"}
        asked = {each["valueFrom"]["secretKeyRef"]["key"] for one in sets.values() for container in one["spec"]["template"]["spec"]["containers"]
                 for each in container.get("env", []) if "valueFrom" in each}
        self.assertEqual(made, asked)
        # The edge key is a file for both.
        self.assertIn("--from-literal=edge-key=$(openssl rand -hex 32)", page)
        key = next(volume["secret"]["items"][0] for volume in pod["volumes"] if volume["name"] == "edge-key")
        place = next(each["mountPath"] for each in pod["containers"][0]["volumeMounts"] if each["name"] == "edge-key")
        self.assertIn(f"--purge-key-file={place}/{key['path']}", arguments)
        edge = sets["ziggurat-edge"]["spec"]["template"]["spec"]
        place = next(each["mountPath"] for each in edge["containers"][0]["volumeMounts"] if each["name"] == "configuration")
        projected = edge["volumes"][0]["projected"]["sources"][1]["secret"]["items"][0]
        self.assertEqual((projected["key"], f"{place}/{projected['path']}"), (key["key"], "/etc/varnish/ziggurat-edge-key"))
        # What the page does to Varnish's configuration names the servers.
        done = subprocess.run(["bash", "-c", re.search(r"^(sed .*varnish\.vcl) \|$", page, re.MULTILINE)[1]], cwd=PACKAGING / "kubernetes",
                              capture_output=True, text=True, check=True).stdout
        self.assertEqual(set(re.findall(r'\.host = "(.*?)"', done)), pods)
        self.assertEqual(re.findall(r'^  "(.*);$', done, re.MULTILINE), ['127.0.0.1"', '10.0.0.0"/8'])
        self.assertIn("--trusted-proxy=10.0.0.0/8", arguments)
        host = by_name("Ingress")["ziggurat"]["spec"]["rules"][0]["host"]
        self.assertIn(f"--base-url=https://{host}", arguments)


class Running(StoreTest):
    """What the containers run, with a store and a database of the test's own."""

    def setUp(self):
        super().setUp()
        self.database = Database()
        self.addCleanup(lambda: self.database.close())
        for name in ("one", "two"):
            photo(self.photos / f"{name}.jpg", 900, 700, left=100 * len(name) + ord(name[0]))
        self.assertEqual(self.build().returncode, 0)

    def check(self, migrate: list[str], serve: list[str]) -> None:
        edge = Varnish(folder("cache"))
        self.addCleanup(edge.stop)
        monitor = free_port()

        def here(word: str) -> str:
            for pattern, value in ((r"postgresql://.*", self.database.address), (r"s3://.*", self.bucket), (r"(--purge-url)=.*", rf"\1={edge.purge_url}"),
                                   (r"(--purge-key-file)=.*", rf"\1={edge.key_file}"),
                                   (r"(--trusted-proxy)=.*", r"\1=127.0.0.1"), (r"(--host)=.*", r"\1=127.0.0.1"),
                                   (r"(--metrics-listen)=.*", rf"\1=127.0.0.1:{monitor}"), (r"(--webroot)=.*", rf"\1={ROOT}/public")):
                word = re.sub(pattern, value, word)
            return word

        # Also where it has been done.
        for _ in range(2):
            result = run(*map(here, migrate))
            self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(serve[0], "serve")
        servers = []
        for number in range(3):
            # On one machine one alone has the monitors' port.
            servers.append(Server(*(here(word) for word in serve[1:] if number == 0 or not word.startswith("--metrics-listen"))))
            self.addCleanup(servers[-1].stop)
        edge.command = edge_command()
        edge.start([server.port for server in servers])
        for cached in ("MISS", "HIT"):
            answer = edge.ask("/dzi/one.dzi", Host="images.example.org")
            self.assertEqual((answer.status, answer.cached), (200, cached), answer.body)
        page = edge.ask("/", Host="images.example.org")
        self.assertEqual(page.status, 200)
        document = edge.ask("/iiif/3/one/info.json", Host="images.example.org")
        self.assertEqual(json.loads(document.body)["id"], "https://images.example.org/iiif/3/one")
        self.forgets(edge)
        if any(word.startswith("--metrics-listen") for word in serve):
            probe = by_name("StatefulSet")["ziggurat-serve"]["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]["httpGet"]["path"]
            edge.port = monitor
            self.assertEqual(edge.ask(probe).status, 200)

    def forgets(self, edge: Varnish) -> None:
        """What is gone from the store is shown by nobody, though its address says for ever."""
        generation = json.loads(edge.ask("/api/images/two", Host="images.example.org").body)["generation"]
        tile = f"/dzi/two_files/9/0_0.jpg?v={generation}"
        for cached in ("MISS", "HIT"):
            answer = edge.ask(tile, Host="images.example.org")
            self.assertEqual((answer.status, answer.cached, "immutable" in answer.headers["Cache-Control"]), (200, cached, True))
        (self.photos / "two.jpg").unlink()
        result = self.build(self.photos, "--prune=all")
        self.assertEqual(result.returncode, 0, result.stderr)
        start = time.monotonic()
        while edge.ask(tile, Host="images.example.org").status != 404:
            self.assertLess(time.monotonic(), start + 30)
            time.sleep(0.05)
        print(f"[forgotten {time.monotonic() - start:.1f} s after the build] ", end="", flush=True)
        self.assertEqual(edge.ask("/dzi/one.dzi", Host="images.example.org").status, 200)

    def test_compose(self):
        services = yaml.safe_load(composed().stdout)["services"]
        self.check(services["migrate"]["command"], services["server-1"]["command"])

    def test_kubernetes(self):
        pod = by_name("StatefulSet")["ziggurat-serve"]["spec"]["template"]["spec"]
        self.check(pod["initContainers"][0]["args"], pod["containers"][0]["args"])


if __name__ == "__main__":
    unittest.main()
