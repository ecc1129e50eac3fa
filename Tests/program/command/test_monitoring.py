"""Alert rules and dashboard of packaging/monitoring: sound, about metrics that there are, and each rule fires when it should."""

import json
import re
import subprocess
import time
import unittest
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable

import yaml

from fronts import free_port
from harness import ROOT, Server, folder, photo, run, sample_library
from upload_client import serve

MONITORING = ROOT / "packaging/monitoring"
RULES = [rule for group in yaml.safe_load((MONITORING / "alerts.yaml").read_text())["groups"] for rule in group["rules"]]
BOARD = json.loads((MONITORING / "grafana-dashboard.json").read_text())
# Prometheus' own.
PROMETHEUS = {"up"}
# Only servers of an object store and of a shared catalog have these: fleet/test_fleet_metrics.py compares them.
FLEET = re.compile(r"ziggurat_(store|catalog|known)_\w+")
NAME = re.compile(r"\b(?:ziggurat|process)_\w+|\bup\b(?=\{)")

SERVER = 'job="ziggurat",instance="a"'
LABELS = {"job": "ziggurat", "instance": "a"}


def series(name: str, values: str, labels: str = "") -> dict:
    return {"series": f"{name}{{{SERVER}{labels}}}", "values": values}


INFO = series("ziggurat_build_info", "1+0x400", ',version="1",libvips="8"')
# By rule: series of an hour and more, sampled each minute, of which it fires; and of which it does not.
CASES = {
    "ZigguratDown": ([series("up", "1 0x60")], [series("up", "1x60")]),
    "ZigguratRestarts": ([INFO, series("process_start_time_seconds", "1x50 2 3 4 5 6 6 6 6 6 6")],
                         [INFO, series("process_start_time_seconds", "1x50 2x10")]),
    "ZigguratInternalErrors": ([series("ziggurat_requests_total", "0+1x60", ',route="dzi",status="500"')],
                               [series("ziggurat_requests_total", "0+1x60", ',route="dzi",status="404"')]),
    "ZigguratUnavailable": ([series("ziggurat_requests_total", "0+10x60", ',route="dzi",status="503"'),
                             series("ziggurat_requests_total", "0+90x60", ',route="dzi",status="200"')],
                            [series("ziggurat_requests_total", "0+1x60", ',route="dzi",status="503"'),
                             series("ziggurat_requests_total", "0+99x60", ',route="dzi",status="200"')]),
    "ZigguratSlowTiles": ([series("ziggurat_request_duration_seconds_bucket", "0+90x60", ',route="dzi",le="0.5"'),
                           series("ziggurat_request_duration_seconds_bucket", "0+100x60", ',route="dzi",le="2.5"'),
                           series("ziggurat_request_duration_seconds_bucket", "0+100x60", ',route="dzi",le="+Inf"')],
                          [series("ziggurat_request_duration_seconds_bucket", "0+100x60", ',route="dzi",le="0.5"'),
                           series("ziggurat_request_duration_seconds_bucket", "0+100x60", ',route="dzi",le="+Inf"'),
                           series("ziggurat_request_duration_seconds_bucket", "0+0x60", ',route="iiif3",le="0.5"'),
                           series("ziggurat_request_duration_seconds_bucket", "0+100x60", ',route="iiif3",le="+Inf"')]),
    "ZigguratRendersRefused": ([series("ziggurat_renders_refused_total", "0+1x60"), series("ziggurat_renders_total", "0+9x60")],
                               [series("ziggurat_renders_refused_total", "0x60"), series("ziggurat_renders_total", "0x60")]),
    "ZigguratFileDescriptors": ([INFO, series("process_open_fds", "900x60"), series("process_max_fds", "1000x60")],
                                # Another program's.
                                [series("process_open_fds", "900x60"), series("process_max_fds", "1000x60")]),
    "ZigguratDescriptorShortage": ([series("ziggurat_descriptor_shortages_total", "0x58 1 1")],
                                   [series("ziggurat_descriptor_shortages_total", "5x60")]),
    "ZigguratAccessLogLost": ([series("ziggurat_access_log_lost_lines_total", "0x58 7 7")],
                              [series("ziggurat_access_log_lost_lines_total", "7x60")]),
    "ZigguratAuditLogLost": ([series("ziggurat_audit_log_lost_lines_total", "0x58 7 7")],
                             [series("ziggurat_audit_log_lost_lines_total", "7x60")]),
    "ZigguratLogins": ([series("ziggurat_logins_refused_total", "0+10x60")], [series("ziggurat_logins_refused_total", "0+1x60")]),
    "ZigguratSandbox": ([series("ziggurat_sandbox_processes_confined", "0x60")], [series("ziggurat_sandbox_processes_confined", "1x60")]),
    "ZigguratSandboxCrashes": ([series("ziggurat_sandbox_processes_crashed_total", "0+1x60")], [series("ziggurat_sandbox_processes_crashed_total", "0x50 1x10")]),
    "ZigguratLibraryUnreachable": ([series("ziggurat_library_reachable", "1x50 0x10")], [series("ziggurat_library_reachable", "1x60")]),
    "ZigguratNoImages": ([series("ziggurat_images", "0x60")], [series("ziggurat_images", "7x60")]),
    "ZigguratImagesLost": ([series("ziggurat_images", "100x30 79x30")], [series("ziggurat_images", "100x30 80x30")]),
    "ZigguratDamagedArchives": ([series("ziggurat_archive_errors_total", "0x50 1x10")], [series("ziggurat_archive_errors_total", "1x60")]),
    # Full in 16 hours; and one that stays.
    "ZigguratLibraryDiskFills": ([series("ziggurat_library_free_bytes", "106e9-100e6x60")], [series("ziggurat_library_free_bytes", "6e9+0x60")]),
    "ZigguratUploadDiskFills": ([series("ziggurat_uploads_free_bytes", "4e9+0x60")], [series("ziggurat_uploads_free_bytes", "6e9+0x60")]),
    "ZigguratUploadsWait": ([series("ziggurat_uploads_waiting", "1x61")], [series("ziggurat_uploads_waiting", "1x30 0 1x30")]),
    "ZigguratUploadsFail": ([series("ziggurat_uploads_failed_total", "0+1x60")], [series("ziggurat_uploads_failed_total", "0x50 3x10")]),
    "ZigguratStoreUnread": ([series("ziggurat_store_unread_seconds", "0x58 60 120")], [series("ziggurat_store_unread_seconds", "2x60")]),
    "ZigguratStoreFaults": ([series("ziggurat_store_faults_total", "0+2x60"), series("ziggurat_store_requests_total", "0+10x60")],
                            [series("ziggurat_store_faults_total", "0x60"), series("ziggurat_store_requests_total", "0x60")]),
    "ZigguratCatalogUnreachable": ([series("ziggurat_catalog_reachable", "1x50 0x10")], [series("ziggurat_catalog_reachable", "1x60")]),
    "ZigguratCatalogWriter": ([series("ziggurat_catalog_writer", "0x60")],
                              [series("ziggurat_catalog_writer", "1x60"), {"series": 'ziggurat_catalog_writer{job="ziggurat",instance="b"}', "values": "0x60"}]),
    "ZigguratBuildFailed": ([series("ziggurat_last_build_exit_code", "0x50 1x10")], [series("ziggurat_last_build_exit_code", "0x30 130x30")]),
    "ZigguratBuildMissing": ([series("ziggurat_last_build_end_time_seconds", "-200000x60")],
                             [series("ziggurat_last_build_end_time_seconds", "-80000x60")]),
}
# What a rule sums up is no label of its alert.
ALERT_LABELS = {"ZigguratCatalogWriter": {"job": "ziggurat"}}


def expressions() -> Iterable[tuple[str, str]]:
    """Each rule's and panel's name and expression."""
    for rule in RULES:
        yield rule["alert"], rule["expr"]
    for panel in BOARD["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]


def promtool(*arguments) -> subprocess.CompletedProcess:
    return subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True, timeout=60)


def named(text: str) -> set[str]:
    return set(re.findall(r"^# TYPE (\w+) ", text, re.MULTILINE))


class Names(unittest.TestCase):
    def test_rules_and_dashboard_use_metrics_that_there_are(self):
        base = folder("metrics")
        photo(base / "photos/one.jpg", 300, 200)
        built = run("build", base / "photos", "--library", base / "library", "--metrics-file", base / "build.prom")
        self.assertEqual(built.returncode, 0, built.stderr)
        with serve(base / "library") as server:
            end = time.monotonic() + 30
            while "ziggurat_library_free_bytes" not in (text := server.get("/metrics").body.decode()):
                self.assertLess(time.monotonic(), end)
                time.sleep(0.1)
        found = named(text) | named((base / "build.prom").read_text())
        self.assertGreater(len(found), 40)
        histograms = set(re.findall(r"^# TYPE (\w+) histogram", text, re.MULTILINE))
        found = found - histograms | {f"{name}_{part}" for name in histograms for part in ("bucket", "sum", "count")}
        used = set()
        for where, expression in expressions():
            names = set(NAME.findall(expression))
            self.assertTrue(names, where)
            used |= names
        self.assertEqual({name for name in used - PROMETHEUS - found if not FLEET.fullmatch(name)}, set())
        # Routes by name.
        routes = set(re.findall(r'sent_bytes_total\{route="(\w+)"', text))
        for where, expression in expressions():
            for names in re.findall(r'route[!=]~"([^"]+)"', expression):
                self.assertLessEqual(set(names.split("|")), routes, where)


class Rules(unittest.TestCase):
    def test_promtool_accepts_the_rules_and_each_query_of_the_dashboard(self):
        result = promtool("check", "rules", MONITORING / "alerts.yaml")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        queries = folder("queries") / "queries.yaml"
        rules = [{"record": f"query:{number}", "expr": re.sub(r"\$__\w+", "5m", expression).replace("$job", ".*").replace("$instance", ".*")}
                 for number, (_, expression) in enumerate(expressions())]
        queries.write_text(yaml.safe_dump({"groups": [{"name": "queries", "rules": rules}]}))
        result = promtool("check", "rules", queries)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)

    def test_each_rule_fires_when_it_should_and_not_otherwise(self):
        self.assertEqual(set(CASES), {rule["alert"] for rule in RULES})
        tests = []
        for rule in RULES:
            labels = ALERT_LABELS.get(rule["alert"], LABELS)
            annotations = {name: re.sub(r"\{\{ \$labels\.(\w+) \}\}", lambda found: labels[found[1]], text) for name, text in rule["annotations"].items()}
            self.assertEqual(set(annotations) - {"runbook"}, {"summary", "description"})
            self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
            if rule["labels"]["severity"] == "critical":
                page, _, section = annotations["runbook"].partition("#")
                self.assertIn(f"\n## {rule['alert']}\n", (ROOT / page).read_text())
                self.assertEqual(section, rule["alert"].lower())
            expected = [{"exp_labels": labels | rule["labels"], "exp_annotations": annotations}]
            for lines, alerts in zip(CASES[rule["alert"]], (expected, []), strict=True):
                tests.append({"name": f"{rule['alert']} {'fires' if alerts else 'is quiet'}", "interval": "1m", "input_series": lines,
                              "alert_rule_test": [{"eval_time": "60m", "alertname": rule["alert"], "exp_alerts": alerts}]})
        path = folder("rules") / "tests.yaml"
        path.write_text(yaml.safe_dump({"rule_files": [str(MONITORING / "alerts.yaml")], "evaluation_interval": "1m", "tests": tests}))
        result = promtool("test", "rules", path)
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


class LivePrometheus(unittest.TestCase):
    def test_prometheus_scrapes_a_server_evaluates_the_rules_and_answers_the_dashboard(self):
        base, port = folder("prometheus"), free_port()
        with Server(sample_library()) as server:
            targets = [{"targets": [f"127.0.0.1:{server.port}"]}]
            (base / "prometheus.yml").write_text(yaml.safe_dump({
                "global": {"scrape_interval": "1s", "evaluation_interval": "1s"}, "rule_files": [str(MONITORING / "alerts.yaml")],
                "scrape_configs": [{"job_name": "ziggurat", "static_configs": targets}]}))
            with open(base / "log", "wb") as log:
                prometheus = subprocess.Popen(["prometheus", f"--config.file={base}/prometheus.yml", f"--storage.tsdb.path={base}/data",
                                               f"--web.listen-address=127.0.0.1:{port}"], stdout=log, stderr=log)
            self.addCleanup(prometheus.wait)
            self.addCleanup(prometheus.kill)

            def ask(path: str, **query) -> dict:
                address = f"http://127.0.0.1:{port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
                with urllib.request.urlopen(address, timeout=30) as answer:
                    return json.load(answer)["data"]

            def eventually(question):
                end = time.monotonic() + 60
                while True:
                    self.assertIsNone(prometheus.poll(), (base / "log").read_text()[-2000:])
                    try:
                        if found := question():
                            return found
                    except (ConnectionError, urllib.error.URLError):
                        pass
                    self.assertLess(time.monotonic(), end)
                    time.sleep(0.2)

            # Rates take two scrapes.
            eventually(lambda: any(float(each["value"][1]) > 2 for each in ask("query", query='count_over_time(up{job="ziggurat"}[5m])')["result"]))
            rules = eventually(lambda: (found := [rule for group in ask("rules")["groups"] for rule in group["rules"]])
                               and all(rule["lastEvaluation"][:4] > "0001" for rule in found) and found)
            self.assertEqual(len(rules), len(RULES))
            self.assertEqual([(rule["name"], rule.get("lastError")) for rule in rules if rule["health"] != "ok"], [])
            # A server of a folder that is well has nothing to report; its disk may be small.
            self.assertEqual({rule["name"] for rule in rules if rule["alerts"]} - {"ZigguratLibraryDiskFills"}, set())
            empty = set()
            for panel, expression in expressions():
                text = expression.replace("$__rate_interval", "5m").replace("$job", "ziggurat").replace("$instance", ".*")
                if not ask("query", query=text)["result"] and panel not in {rule["alert"] for rule in RULES}:
                    empty.add(panel)
            # Only what such a server has no figures for.
            self.assertLessEqual(empty, {panel["title"] for panel in BOARD["panels"] if any(
                re.search("ziggurat_(store|catalog|known|uploads|last_build)_", target["expr"]) for target in panel.get("targets", []))})


class Dashboard(unittest.TestCase):
    def test_panels_have_what_readers_need_and_do_not_overlap(self):
        panels = BOARD["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"]) for y in range(place["y"], place["y"] + place["h"])}
            self.assertLessEqual(place["x"] + place["w"], 24, panel["title"])
            self.assertFalse(cells & taken, panel["title"])
            taken |= cells
            if panel["type"] == "row":
                continue
            self.assertTrue(panel["description"].endswith("."), panel["title"])
            self.assertEqual(panel["datasource"], {"type": "prometheus", "uid": "${datasource}"})
            self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
            self.assertEqual(len({target["refId"] for target in panel["targets"]}), len(panel["targets"]))
        variables = {each["name"] for each in BOARD["templating"]["list"]}
        self.assertLessEqual(set(re.findall(r"\$\{?(\w+)", json.dumps(BOARD))) - {"__rate_interval", "__all"}, variables)


if __name__ == "__main__":
    unittest.main()
