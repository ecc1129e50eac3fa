"""Login attempts with passwords and tokens: limited by address, whichever proxy supplies it."""

import threading
import time
import unittest

import upload_client
from harness import Server, run
from space_client import Browser
from two_spaces import ONE, library


class LoginAttempts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = library()

    def serve(self, *options) -> Server:
        return self.enterContext(Server(self.library, *options))

    def test_login_attempts_are_limited_by_address(self):
        server = self.serve()
        browser = Browser(server)
        # Tokens, which take no time: on a busy machine half a dozen passwords take longer than the first wait.
        statuses = [browser.log_in({"token": f"guess {number}"}).status for number in range(5)]
        self.assertEqual(statuses, [401] * 5)
        # Where the machine stood still, a wait may be over: the next is longer.
        for _ in range(6):
            reported = browser.log_in({"token": "the sixth"})
            # Also the right one waits, and wrong tokens count as well.
            others = [browser.unlock(ONE).status, browser.log_in({"token": "x" * 40}).status]
            if [reported.status, *others] == [429] * 3:
                break
        self.assertEqual([reported.status, *others], [429] * 3)
        self.assertGreaterEqual(int(reported["retry-after"]), 1)
        time.sleep(int(reported["retry-after"]) + 0.2)
        self.assertEqual(browser.unlock(ONE).status, 200)

    def test_the_right_token_is_never_refused(self):
        server = self.enterContext(upload_client.serve(self.library, "--base-url", "http://example.org"))
        browser, proxy = Browser(server), {"X_Forwarded_For": "203.0.113.9"}
        statuses = [browser.log_in({"token": f"guess {number}"}, **proxy).status for number in range(30)]
        self.assertOneClient(statuses)
        self.assertEqual(browser.log_in({"token": upload_client.TOKEN}, **proxy).status, 200)
        self.assertTrue(browser.state()["canWrite"])
        # Nobody else waits for that address, nor for thirty others.
        for number in range(30):
            self.assertEqual(Browser(server).log_in({"token": "guess"}, X_Forwarded_For=f"2001:db8:{number:x}::1").status, 401)
        self.assertEqual(Browser(server).log_in({"password": ONE}, X_Forwarded_For="203.0.113.10").status, 200)

    def test_wrong_bearer_tokens_are_limited_and_the_right_one_never(self):
        server = self.enterContext(upload_client.serve(self.library))

        def status(token: str, method: str = "POST", target: str = "/api/uploads") -> int:
            answer = server.get(target, method, Authorization=f"Bearer {token}", Tus_Resumable="1.0.0", Content_Length="0")
            if answer.status == 429:
                self.assertGreaterEqual(int(answer["retry-after"]), 1)
            return answer.status
        self.assertOneClient([status(f"guess-{number}") for number in range(30)])
        # Neither what everybody may read, nor who has the right one, waits.
        self.assertEqual(status("guess", "GET", "/api/images"), 200)
        self.assertNotIn(status(upload_client.TOKEN), (401, 429))
        self.assertIn(status("guess"), (401, 429))

    def test_a_client_rejected_because_of_others_made_no_attempt(self):
        server = self.serve("--trusted-proxy", "127.0.0.1")
        reported, statuses = [], []

        def attempt(number: int):
            reported.append(Browser(server).log_in({"password": "a guess"}, X_Forwarded_For=f"203.0.113.{number}").status)
        crowd = [threading.Thread(target=attempt, args=(number,)) for number in range(24)]
        for one in crowd:
            one.start()
        deadline = time.monotonic() + 60
        while 503 not in reported and time.monotonic() < deadline:
            time.sleep(0.002)
        # More than are free, as long as there is no room; the first that finds some waits for its turn, which may be long.
        while len(statuses) < 12 and set(statuses) <= {503}:
            statuses.append(Browser(server).log_in({"password": ONE}, X_Forwarded_For="198.51.100.7").status)
        for one in crowd:
            one.join()
        self.assertEqual(statuses[0], 503, reported)
        self.assertIn(statuses[-1], (503, 200, 0), statuses)
        self.assertEqual(Browser(server).log_in({"password": ONE}, X_Forwarded_For="198.51.100.7").status, 200)

    def attempts_of_one_client(self, server: Server, addresses: list[str]) -> bool:
        """Whether attempts whose requests are said to come from these addresses count as one client's."""
        statuses = [Browser(server).log_in({"token": "guess"}, X_Forwarded_For=address).status for address in addresses]
        if set(statuses) != {401}:
            self.assertOneClient(statuses)
        return 429 in statuses

    def assertOneClient(self, statuses: list[int]):
        """Five attempts are free; on a slow machine the wait for one more may be over when it comes."""
        self.assertEqual((statuses[:5], set(statuses[5:]) | {401}), ([401] * 5, {401, 429}))

    def test_trusted_proxies_supply_the_address(self):
        for options, addresses, isOne in (
            # With a base URL there is a proxy on this machine: its own word is the last.
            (["--base-url", "http://example.org"], [f"198.51.100.{number}, 203.0.113.9" for number in range(10)], True),
            (["--base-url", "http://example.org"], [f"203.0.113.{number}" for number in range(10)], False),
            # Else the header is anybody's word.
            ([], [f"203.0.113.{number}" for number in range(10)], True),
            (["--base-url", "http://example.org", "--trusted-proxy", "none"], [f"203.0.113.{n}" for n in range(10)], True),
            (["--trusted-proxy", "10.0.0.0/8"], [f"203.0.113.{number}" for number in range(10)], True),
            (["--trusted-proxy", "127.0.0.0/8"], [f"203.0.113.{number}" for number in range(10)], False),
            # A row of proxies, and one more that is not known.
            (["--trusted-proxy", "127.0.0.1", "--trusted-proxy", "192.0.2.0/24,2001:db8:ffff::/48"],
             [f"203.0.113.{number}, 192.0.2.{number}, 2001:db8:ffff::{number}" for number in range(10)], False),
            (["--trusted-proxy", "127.0.0.1"], [f"203.0.113.{number}, 192.0.2.1" for number in range(10)], True),
            # A network of IPv6 is one.
            (["--trusted-proxy", "127.0.0.1"], [f"2001:db8:1:2::{number}" for number in range(10)], True),
            (["--trusted-proxy", "127.0.0.1"], [f"2001:db8:1:{number}::1" for number in range(10)], False),
        ):
            with self.subTest(options=options, addresses=addresses[0]):
                self.assertEqual(self.attempts_of_one_client(self.serve(*options), addresses), isOne)
        for bad in ("10.0.0.0/33", "10.1.0.0/8", "proxy", "none,127.0.0.1", ""):
            result = run("serve", self.library, "--trusted-proxy", bad)
            self.assertEqual(result.returncode, 2)
            self.assertRegex(result.stderr, r"^ziggurat: invalid value '.*' for --trusted-proxy \(expected .*\)\n$")


if __name__ == "__main__":
    unittest.main()
