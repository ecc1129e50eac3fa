"""What visitors delete from a library that servers share, and what comes back of it, whatever builders write meanwhile."""

import json
import time
import unittest

from harness import Server, photo, run
from test_shared_edits import SharedMetadata


class SharedDeletions(SharedMetadata):
    def test_what_was_said_of_a_deleted_image_is_said_of_no_other_that_gets_its_id(self):
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        with self.writable(2) as servers:
            for server in servers:
                self.listed(server, "a")
            self.assertEqual(self.ask(servers[0], "PATCH", "/api/images/a", {"title": "Said"})[0], 200)
            first = self.ask(servers[1], "DELETE", "/api/images/a")[1]["deleted"]["id"]
            photo(self.photos / "a.jpg", 280, 190)
            self.build()
            for server in servers:
                self.listed(server, "a")
                self.eventually(lambda: self.described(server, "a").get("width"), 280)
                self.assertNotEqual(self.described(server, "a")["title"], "Said")
                self.assertEqual(json.loads(server.get("/api/images?q=said").body)["images"], [])
            self.assertEqual(self.ask(servers[0], "PATCH", "/api/images/a", {"title": "Other"})[0], 200)
            self.assertEqual(self.ask(servers[1], "POST", f"/api/trash/{first}/restore")[1], {"restored": [], "conflicts": ["a"]})
            second = self.ask(servers[0], "DELETE", "/api/images/a")[1]["deleted"]["id"]
            for name, width, title in ((first, 300, "Said"), (second, 280, "Other")):
                self.assertEqual(self.ask(servers[1], "POST", f"/api/trash/{name}/restore")[1]["restored"], ["a"])
                for server in servers:
                    self.eventually(lambda: (self.described(server, "a").get("width"), self.described(server, "a").get("title")), (width, title))
                    self.assertEqual([item["id"] for item in json.loads(server.get(f"/api/images?q={title}").body)["images"]], ["a"])
                if name == first:
                    self.assertEqual(self.ask(servers[0], "DELETE", "/api/images/a")[0], 200)

    def test_restored_images_stay_whatever_builders_have_written(self):
        for name in "ab":
            photo(self.photos / f"{name}.jpg", 300, 200)
        self.build()
        with self.writable(2) as servers:
            for server in servers:
                self.listed(server, "ab")
            first = self.ask(servers[0], "DELETE", "/api/images/a")[1]["deleted"]["id"]
            pruned = self.ask(servers[0], "DELETE", "/api/images/b")[1]["deleted"]["id"]
            # Its builder writes another archive of one, and that the other is there no more.
            photo(self.photos / "a.jpg", 280, 190)
            (self.photos / "b.jpg").unlink()
            self.build(self.photos, "--prune")
            self.eventually(lambda: self.described(servers[1], "a").get("width"), 280)
            self.assertEqual(self.ask(servers[0], "DELETE", "/api/images/a")[0], 200)
            for name in (first, pruned):
                self.assertEqual(len(self.ask(servers[1], "POST", f"/api/trash/{name}/restore")[1]["restored"]), 1)
            self.eventually(lambda: self.database.ask("SELECT count(*) FROM archive WHERE unannounced").strip(), "0")
            # All that builders have written is read once more.
            self.assertEqual(run("reindex", self.bucket).returncode, 0)
            self.database.ask("DELETE FROM part")
            self.eventually(lambda: self.database.ask("SELECT count(*) > 0 FROM part").strip(), "t")
            for server in servers:
                self.listed(server, "ab")
                self.eventually(lambda: self.described(server, "a").get("width"), 300)
                self.eventually(lambda: server.get("/dzi/b.dzi").status, 200)
        # Who has nothing but the directory sees the same, and a sweep finds nothing to remove of it.
        with Server(self.bucket) as alone:
            self.eventually(lambda: [json.loads(alone.get(f"/api/images/{name}").body).get("width") for name in "ab"], [300, 300])

    def test_how_long_deletions_are_kept_goes_by_the_databases_clock(self):
        """The next writer may have another one, and would remove archives for good that could still be restored."""
        self.database.ask("CREATE TABLE skew AS SELECT interval '100 days' AS ahead; "
                          "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql AS "
                          "'SELECT pg_catalog.clock_timestamp() + ahead FROM skew'; "
                          "ALTER DATABASE postgres SET search_path = public, pg_catalog")
        photo(self.photos / "a.jpg", 300, 200)
        self.build()
        with self.server(0, "--keep-deleted", 1) as server:
            self.listed(server, "a")
            reported = self.ask(server, "DELETE", "/api/images/a")[1]["deleted"]
            self.assertAlmostEqual(reported["deletedAt"], time.time() + 100 * 86_400, delta=60)
            self.assertEqual(reported["expires"], reported["deletedAt"] + 3600)
            kept = lambda: [each["id"] for each in self.ask(server, "GET", "/api/trash")[1]["items"]]
            self.assertEqual(kept(), [reported["id"]])
            self.database.ask("UPDATE skew SET ahead = '0 days'")
            time.sleep(3)
            self.assertEqual(kept(), [reported["id"]])
            self.database.ask("UPDATE skew SET ahead = '100 days 59 minutes'")
            time.sleep(3)
            self.assertEqual(kept(), [reported["id"]])
            self.database.ask("UPDATE skew SET ahead = '100 days 61 minutes'")
            self.eventually(kept, [])
            self.eventually(lambda: self.database.ask("SELECT count(*) FROM deletion").strip(), "0")


if __name__ == "__main__":
    unittest.main()
