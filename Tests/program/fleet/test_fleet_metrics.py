"""Alert rules and dashboard name metrics that servers of an object store and of a shared catalog have."""

import re
import unittest

from harness import ROOT, Server, photo
from test_shared_catalog import SharedCatalogTest


class FleetMetrics(SharedCatalogTest):
    def test_rules_and_dashboard_use_metrics_of_stores_and_catalogs_that_there_are(self):
        photo(self.photos / "one.jpg", 300, 200)
        self.build()
        self.migrated()
        with self.serve() as server:
            found = set(re.findall(r"^# TYPE (\w+) ", server.get("/metrics").body.decode(), re.MULTILINE))
        own = re.compile(r"ziggurat_(?:store|catalog|known)_\w+")
        for name in ("alerts.yaml", "grafana-dashboard.json"):
            used = set(own.findall((ROOT / "packaging/monitoring" / name).read_text()))
            self.assertGreater(len(used), 3, name)
            self.assertLessEqual(used, found, name)


if __name__ == "__main__":
    unittest.main()
