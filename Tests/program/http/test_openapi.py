"""`/openapi.json` is true: schemathesis asks what it allows and more, and compares the answers with it."""

import json
import unittest

from harness import Server, sample_library
from schemathesis_run import check


class Description(unittest.TestCase):
    def test_every_answer_is_as_described(self):
        with Server(sample_library(), "--spaces", "yes") as server:
            result = check(server, {"id": ["photo", "two words", "deep/er/leaf", "dot", "line", "nothing", "ü?#%"]})
            self.assertEqual(result.returncode, 0, result.stdout[-6000:] + result.stderr[-2000:])
            self.assertRegex(result.stdout, r"\d+ generated|\d+ passed|No issues found")

    def test_it_names_the_servers_address_cookie_and_limits(self):
        with Server(sample_library(), "--base-url", "https://example.org/images", "--max-viewport", 1234) as server:
            document = json.loads(server.get("/openapi.json").body)
        self.assertEqual((document["openapi"], document["servers"]), ("3.1.0", [{"url": "https://example.org/images"}]))
        self.assertEqual(document["components"]["securitySchemes"]["session"]["name"], "__Host-ziggurat-session-images")
        taken = document["paths"]["/api/images/{id}/viewport"]["get"]["parameters"]
        self.assertIn({"$ref": "#/components/parameters/width"}, taken)
        self.assertEqual(document["components"]["parameters"]["width"]["schema"]["maximum"], 1234)


if __name__ == "__main__":
    unittest.main()
