"""The same with the library in Ceph: its gateway is killed, too, and a minute long every third question is refused."""

import unittest
from urllib.parse import unquote

from ceph import Ceph
from cluster_test import WORKERS_KILLED, ClusterTest
from engine import BUCKET
from failing_proxy import FailingProxy
from harness import run, seed

REFUSED, MINUTE = 0.3, 60.0


class SlurmBuildsIntoAStore(ClusterTest):
    scale = 2

    def test_workers_a_node_and_the_gateway_are_killed_and_the_library_is_what_one_machine_builds(self):
        chance = seed("slurm and a store")
        store = Ceph()
        store.start()
        self.addCleanup(store.stop)
        proxy = FailingProxy(store.port, chance)
        self.addCleanup(proxy.close)
        environment = {name: value for name, value in store.environment.items() if name.startswith("AWS_")} | {
            "AWS_ENDPOINT_URL_S3": proxy.endpoint}
        # An idle machine is done in half a minute where nothing is killed.
        workers = [chance.uniform(2, 15) for _ in range(WORKERS_KILLED)]
        node, gateway, away, failures = (chance.uniform(*span) for span in ((2, 15), (5, 15), (1, 8), (0, 10)))
        print(f"[{len(self.alone)} images; workers killed at {', '.join(f'{at:.1f} s' for at in workers)}, a node at {node:.1f} s, the gateway at "
              f"{gateway:.1f} s for {away:.1f} s, {REFUSED:.0%} of questions refused from {failures:.1f} s to {failures + MINUTE:.1f} s]", end=" ", flush=True)

        def kill_gateway() -> None:
            store.gateway.kill()
            store.gateway.wait()
            self.killed["gateway"] += 1

        def refuse(share: float) -> None:
            proxy.share = share

        library = f"s3://{BUCKET}/built"
        self.build(library, chance, **environment)
        self.go_on([(node, self.kill_node), (gateway, kill_gateway), (gateway + away, store.begin_gateway),
                    (failures, lambda: refuse(REFUSED)), (failures + MINUTE, lambda: refuse(0)),
                    *((at, self.kill_worker) for at in workers)])
        refuse(0)
        print(f"[{dict(proxy.counts)}, {self.sent(store)} archives sent]", end=" ", flush=True)
        self.assertEqual(self.killed.total(), WORKERS_KILLED + 2, self.killed)
        self.compare(self.listed(store))
        # As of a folder: what a killed builder had sent and not announced is announced by the next.
        self.assertLessEqual(self.built, len(self.alone) + 1 + self.killed.total())
        verified = run("verify", library, environment=environment, timeout=300)
        self.assertEqual(verified.returncode, 0, verified.stderr)

    def listed(self, store: Ceph) -> dict[str, str]:
        """The SHA-256 of each image's archive, by the library's directory, of which the index job has made one object."""
        keys = [key for key in store.keys() if key.startswith("built/directory/")]
        self.assertEqual([key.endswith("-whole") for key in keys], [True], (keys, (self.base / f"log-{self.index}").read_text()))
        lines = [line.split("\t") for line in store.get(keys[0]).decode().splitlines()]
        return {unquote(line[1]): line[2] for line in lines if line[0] == "image"}

    @staticmethod
    def sent(store: Ceph) -> int:
        """How many times archives were stored, by the gateway's log, which is written behind its answers."""
        return sum(f'"PUT /{BUCKET}/built/szi/' in line and " 200 " in line for line in store.log.read_text(errors="replace").splitlines())


if __name__ == "__main__":
    unittest.main()
