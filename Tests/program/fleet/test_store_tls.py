"""A store behind TLS: its certificate is verified by the certificates that the environment names, and errors say so."""

import os
import ssl
import subprocess
import unittest
from unittest import mock

from harness import folder, photo, run
from test_store import StoreTest

NAMES = ("AWS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE", "SSL_CERT_DIR")


class TLS(StoreTest):
    def setUp(self):
        super().setUp()
        place = folder("certificate")
        self.certificate, key = place / "own.pem", place / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=store",
                        "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", self.certificate], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.store.server.socket = context.wrap_socket(self.store.server.socket, server_side=True)
        self.port = self.store.server.server_port
        self.environment(AWS_ENDPOINT_URL_S3=f"https://127.0.0.1:{self.port}")
        photo(self.photos / "a.jpg", 60, 40)

    def environment(self, **values):
        patched = mock.patch.dict(os.environ, {name: values.get(name, "") for name in {*NAMES, *values}})
        patched.start()
        self.addCleanup(patched.stop)

    def test_an_untrusted_certificate_is_named(self):
        for arguments in (("reindex", self.bucket), ("verify", self.bucket), ("build", self.photos, "--library", self.bucket)):
            result = run(*arguments)
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, rf"TLS: cannot verify the certificate of 127\.0\.0\.1:{self.port}: self.signed certificate", arguments)

    def test_each_variable_names_the_trusted_certificates_and_the_first_counts(self):
        for name in NAMES[:3]:
            self.environment(**{name: str(self.certificate)})
            result = run("build", self.photos, "--library", self.bucket)
            self.assertEqual(result.returncode, 0, (name, result.stderr))
        self.environment(AWS_CA_BUNDLE="/etc/ssl/certs/ca-certificates.crt", CURL_CA_BUNDLE=str(self.certificate))
        self.assertIn("cannot verify the certificate", run("reindex", self.bucket).stderr)

    def test_a_file_that_is_not_there_and_another_host_are_named(self):
        self.environment(AWS_CA_BUNDLE="/nowhere/bundle.pem")
        self.assertRegex(run("reindex", self.bucket).stderr, r"TLS: cannot verify the certificate of .*: cannot read /nowhere/bundle\.pem")
        self.environment(AWS_CA_BUNDLE=str(self.certificate), AWS_ENDPOINT_URL_S3=f"https://localhost:{self.port}")
        self.assertRegex(run("reindex", self.bucket).stderr, r"TLS: cannot verify the certificate of localhost:\d+: .*localhost")


if __name__ == "__main__":
    unittest.main()
