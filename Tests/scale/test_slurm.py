"""A library that a Slurm cluster builds by packaging/slurm, with workers and a node that are killed: byte for byte what one machine builds."""

import unittest

from cluster_test import WORKERS_KILLED, ClusterTest, digests
from harness import seed
from szi import leftovers


class SlurmBuilds(ClusterTest):
    def test_workers_and_a_node_are_killed_and_the_library_is_what_one_machine_builds(self):
        chance = seed("slurm")
        library = self.base / "library"
        times = [chance.uniform(0.5, 12) for _ in range(WORKERS_KILLED + 1)]
        print(f"[{len(self.alone)} images; kills at {', '.join(f'{at:.1f} s' for at in times)}, a node at the first of them]", end=" ", flush=True)
        self.build(library, chance)
        self.go_on([(times[0], self.kill_node), *((at, self.kill_worker) for at in times[1:])])
        self.compare(digests(library))
        self.assertEqual(leftovers(library), [])
        # crash-2 ends its decoder in one run of two.
        self.assertLessEqual(self.built, len(self.alone) + 1 + self.killed.total())


if __name__ == "__main__":
    unittest.main()
