"""`/openapi.json` is true: schemathesis asks what it allows and more, and compares the answers with it."""

import json
import unittest

from harness import Server, sample_library
from schemathesis_run import check


class Description(unittest.TestCase):
    def test_every_answer_is_as_described(self):
        with Server(sample_library(), "--private-spaces", "yes") as server:
            result = check(server, {"id": ["photo", "two words", "deep/er/leaf", "dot", "line", "nothing", "ü?#%"]})
            self.assertEqual(result.returncode, 0, result.stdout[-6000:] + result.stderr[-2000:])
            self.assertRegex(result.stdout, r"\d+ generated|\d+ passed|No issues found")

    def test_it_names_the_servers_address_cookie_and_limits(self):
        with Server(sample_library(), "--base-url", "https://example.org/images") as server:
            document = json.loads(server.get("/openapi.json").body)
        self.assertEqual((document["openapi"], document["servers"]), ("3.1.0", [{"url": "https://example.org/images"}]))
        self.assertEqual(document["components"]["securitySchemes"]["session"]["name"], "__Host-ziggurat-session-images")
        taken = document["paths"]["/api/images/{id}/viewport"]["get"]["parameters"]
        self.assertIn({"$ref": "#/components/parameters/width"}, taken)
        self.assertEqual(document["components"]["parameters"]["width"]["schema"]["maximum"], 32768)

    def test_everything_is_described(self):
        """Each schema, member, parameter and operation has a description in whole sentences, each optional parameter a default or an
        example."""
        with Server(sample_library()) as server:
            document = json.loads(server.get("/openapi.json").body)

        def members(name: str, schema: dict):
            yield name, schema
            for member, inner in schema.get("properties", {}).items():
                yield from members(f"{name}.{member}", inner)
            if isinstance(schema.get("items"), dict):
                for member, inner in schema["items"].get("properties", {}).items():
                    yield from members(f"{name}[].{member}", inner)

        found = [each for name, schema in document["components"]["schemas"].items() for each in members(name, schema)]
        parameters = [each for path in document["paths"].values() for operation in path.values() if isinstance(operation, dict)
                      for each in operation.get("parameters", [])] + list(document["components"]["parameters"].values())
        found += [(each["name"], each) for each in parameters if "$ref" not in each]
        self.assertGreater(len(found), 150)
        for name, each in found:
            self.assertRegex(each.get("description", ""), r"^[A-Z0-9`CSS].*[.]$", name)
        for each in parameters:
            if "$ref" not in each and not each.get("required") and each["name"] != "cursor":
                self.assertTrue({"example"} & set(each) or "default" in each["schema"], each["name"])
        for path, item in document["paths"].items():
            for operation in item.values():
                if isinstance(operation, dict):
                    self.assertRegex(operation["summary"], r"^[A-Z][a-z]+s .*\.$", path)


if __name__ == "__main__":
    unittest.main()
