"""What tus 1.0.0 says that a server MUST do (https://tus.io/protocols/resumable-upload), sentence by sentence.

Each test names its sentences. The extensions are those that the server offers: creation, creation-with-upload, expiration
and termination. Sentences about clients, about extensions that are not offered, and about lengths that are deferred are
left out.
"""

import base64
import email.utils
import json
import unittest

from harness import Answer, ServerTest, folder, photo
from upload_client import TYPE, Client, metadata, serve


class Musts(ServerTest):
    @classmethod
    def setUpClass(cls):
        cls.library = folder("library")
        cls.server = serve(cls.library, "--max-upload-size", 1)
        cls.client = Client(cls.server)
        cls.photo = photo(folder("photos") / "harbour.jpg", 300, 200).read_bytes()

    def test_tus_resumable_is_in_every_answer_but_those_to_options(self):
        """"The Tus-Resumable header MUST be included in every request and response except for OPTIONS requests." """
        made = self.client.create(100, filename="a.jpg")
        path = made["location"]
        answers = [
            made, self.client.ask("HEAD", path), self.client.ask("GET", path), self.client.patch(path, 0, self.photo[:10]),
            self.client.ask("GET", "/api/uploads"),
            # Refusals of every kind.
            self.client.ask("POST", "/api/uploads", token=None, Upload_Length=5), self.client.ask("HEAD", path, token=None),
            self.client.ask("PATCH", path, token="wrong-token-of-the-tests"), self.client.ask("HEAD", "/api/uploads/" + "0" * 32),
            self.client.patch("/api/uploads/" + "0" * 32, 0, b"x"), self.client.ask("PUT", path),
            self.client.ask("PATCH", "/api/uploads", Upload_Offset=0), self.client.ask("POST", "/api/uploads"),
            self.client.patch(path, 5, b"x"), self.client.ask("PATCH", path, b"x", Upload_Offset=10, Content_Type="text/plain"),
            self.client.ask("POST", "/api/uploads", Upload_Length=2 << 20), self.client.ask("POST", "/api/uploads", tus=False),
            self.client.ask("DELETE", path), self.client.ask("HEAD", path), self.client.ask("GET", "/api/%75ploads", token=None),
        ]
        statuses = {answer.status for answer in answers}
        self.assertLessEqual({200, 201, 204, 400, 401, 404, 405, 409, 410, 412, 413, 415}, statuses)
        for answer in answers:
            self.assertEqual(answer["tus-resumable"], "1.0.0", answer)
        self.assertEqual(self.client.ask("OPTIONS", "/api/uploads")["tus-resumable"], "")

    def test_another_version_is_rejected_for_every_client(self):
        """"If the version specified by the Client is not supported by the Server, it MUST respond with the 412 Precondition
        Failed status and MUST include the Tus-Version header into the response. In addition, the Server MUST NOT process the
        request." """
        path = self.client.create(100, filename="version.jpg")["location"]
        for method, target, token in (("POST", "/api/uploads", True), ("PATCH", path, True), ("HEAD", path, True), ("DELETE", path, True),
                                      ("POST", "/api/uploads", False), ("HEAD", path, False)):
            answer = self.client.ask(method, target, tus=False, Tus_Resumable="0.2.2", Upload_Length=5, Upload_Offset=0,
                                     Content_Type=TYPE, **({} if token else {"token": None}))
            self.assertEqual((answer.status, answer["tus-version"]), (412, "1.0.0"), (method, token))
        self.assertEqual(self.client.ask("HEAD", path)["upload-offset"], "0")

    def test_options(self):
        """"A successful response indicated by the 204 No Content or 200 OK status MUST contain the Tus-Version header." "The Server
        MUST ignore the [Tus-Resumable] header." "The list MUST be sorted by Server's preference." "Tus-Max-Size … MUST be a
        non-negative integer." "If the Server supports this extension, it MUST add creation to the Tus-Extension header", and
        so for creation-with-upload, expiration and termination."""
        for version in ("1.0.0", "9.9.9"):
            answer = self.client.ask("OPTIONS", "/api/uploads", tus=False, token=None, Tus_Resumable=version)
            self.assertEqual((answer.status, answer["tus-version"]), (204, "1.0.0"))
            self.assertEqual(answer["tus-max-size"], str(1 << 20))
            self.assertEqual(answer["tus-extension"].split(","), ["creation", "creation-with-upload", "expiration", "termination"])

    def test_the_method_that_a_header_states_counts(self):
        """"X-HTTP-Method-Override … MUST be interpreted as the request's method by the Server, if the header is presented. The
        actual method of the request MUST be ignored." A read is not made a change, which pages of other sites could cause."""
        path = self.client.create(20, filename="override.jpg")["location"]
        sent = self.client.ask("POST", path, b"\xff\xd8\xff", Upload_Offset=0, Content_Type=TYPE, X_HTTP_Method_Override="PATCH")
        self.assertEqual((sent.status, sent["upload-offset"]), (204, "3"))
        head = self.client.ask("POST", path, X_HTTP_Method_Override="HEAD")
        self.assertEqual((head.status, head["upload-offset"], head["upload-length"], head.body), (200, "3", "20", b""))
        self.assertEqual(self.client.ask("GET", path, X_HTTP_Method_Override="DELETE").status, 200)
        self.assertEqual(self.client.ask("PUT", path, X_HTTP_Method_Override="DELETE").status, 204)
        self.assertEqual(self.client.ask("HEAD", path).status, 410)

    def test_head(self):
        """"The Server MUST always include the Upload-Offset header in the response for a HEAD request, even if the offset is 0, or
        the upload is already considered completed. If the size of the upload is known, the Server MUST include the Upload-Length
        header in the response." "The Server MUST prevent the client and/or proxies from caching the response by adding the
        Cache-Control: no-store header." """
        path = self.client.create(len(self.photo), filename="head.jpg")["location"]
        for offset, end in ((0, 1000), (1000, len(self.photo)), (len(self.photo), None)):
            head = self.client.ask("HEAD", path)
            self.assertEqual((head["upload-offset"], head["upload-length"]), (str(offset), str(len(self.photo))))
            self.assertIn("no-store", head["cache-control"].replace(" ", "").split(","))
            if end:
                self.client.patch(path, offset, self.photo[offset:end])

    def test_metadata_comes_back_as_it_was_sent(self):
        """"If an upload contains additional metadata, responses to HEAD requests MUST include the Upload-Metadata header and its
        value as specified by the Client during the creation." """
        binary = base64.b64encode(bytes(range(256))).decode()
        for sent in (metadata(filename="é.jpg", type="image/jpeg"), "filename YS5qcGc=,is_confidential", f"name YS5qcGc=, data {binary}"):
            path = self.client.ask("POST", "/api/uploads", Upload_Length=100, Upload_Metadata=sent)["location"]
            self.assertEqual(self.client.ask("HEAD", path)["upload-metadata"], sent)
            self.client.ask("DELETE", path)
        path = self.client.ask("POST", "/api/uploads", Upload_Length=100)["location"]
        self.assertEqual(self.client.ask("HEAD", path)["upload-metadata"], "")
        self.client.ask("DELETE", path)

    def test_metadata_outlives_the_server(self):
        """The same after a restart: uploads are resumed days later."""
        library = folder("library")
        sent = metadata(filename="later.jpg", note="of the client alone")
        with serve(library) as server:
            path = Client(server).ask("POST", "/api/uploads", Upload_Length=len(self.photo), Upload_Metadata=sent)["location"]
        with serve(library) as server:
            client = Client(server)
            self.assertEqual(client.ask("HEAD", path)["upload-metadata"], sent)
            client.patch(path, 0, self.photo)
            client.end(path)
            self.assertEqual(client.ask("HEAD", path)["upload-metadata"], sent)
        with serve(library) as server:
            self.assertEqual(Client(server).ask("HEAD", path)["upload-metadata"], sent)

    def test_metadata_that_is_none(self):
        """"The key MUST NOT contain spaces and commas and MUST NOT be empty. … the value MUST be Base64 encoded. All keys MUST be
        unique." """
        for sent in ("filename YQ==,filename YQ==", "filename !!!", "a b YQ==", "filename YQ"):
            answer = self.client.ask("POST", "/api/uploads", Upload_Length=5, Upload_Metadata=sent)
            self.assertEqual(answer.status, 400, sent)

    def test_patch(self):
        """"If the offsets do not match, the Server MUST respond with the 409 Conflict status without modifying the upload resource."
        "The Server MUST acknowledge successful PATCH requests with the 204 No Content status. It MUST include the Upload-Offset
        header containing the new offset. The new offset MUST be the sum of the offset before the PATCH request and the number of
        bytes received." "[Upload-Expires] MUST be included in every PATCH response if the upload is going to expire." "The value
        of the Upload-Expires header MUST be in RFC 9110 datetime format." """
        path = self.client.create(len(self.photo), filename="patch.jpg")["location"]
        self.assertEqual(self.client.patch(path, 1, b"x").status, 409)
        self.assertEqual(self.client.ask("HEAD", path)["upload-offset"], "0")
        sent = self.client.patch(path, 0, self.photo[:700])
        self.assertEqual((sent.status, sent["upload-offset"]), (204, "700"))
        self.assertTrue(sent["upload-expires"].endswith(" GMT") and email.utils.parsedate(sent["upload-expires"]))
        self.client.ask("DELETE", path)

    def test_creation(self):
        """"The value MUST be a non-negative integer." "If the length of the upload exceeds the maximum … the Server MUST respond with
        the 413 Request Entity Too Large status." "The Server MUST acknowledge a successful upload creation with the 201 Created
        status. The Server MUST set the Location header to the URL of the created resource." "If the expiration is known at the
        creation, the Upload-Expires header MUST be included in the response to the initial POST request." "[With an upload, the
        Server] MUST include the Upload-Offset header in the response and MUST set its value to the offset of the upload after
        applying the accepted bytes." """
        for length in ("-1", "1.5", "x", ""):
            self.assertEqual(self.client.ask("POST", "/api/uploads", Upload_Length=length).status, 400, length)
        self.assertEqual(self.client.ask("POST", "/api/uploads", Upload_Length=(1 << 20) + 1).status, 413)
        made = self.client.ask("POST", "/api/uploads", self.photo[:50], Upload_Length=100, Content_Type=TYPE)
        self.assertEqual((made.status, made["upload-offset"]), (201, "50"))
        self.assertTrue(email.utils.parsedate(made["upload-expires"]))
        self.assertEqual(self.client.ask("HEAD", made["location"])["upload-offset"], "50")
        # "The Server … MUST respond with the 204 No Content status confirming that the upload was terminated."
        self.assertEqual(self.client.ask("DELETE", made["location"]).status, 204)

    def test_extensions_that_are_not_offered_are_refused(self):
        """A part of a file would be taken for a whole one, and what has a wrong checksum for right."""
        for headers in ({"Upload_Concat": "partial"}, {"Upload_Concat": "final;/api/uploads/a /api/uploads/b"},
                        {"Upload_Defer_Length": "1"}, {"Upload_Checksum": "sha1 Kq5sNclPz7QV2+lfQIuc6R7oRu0="}):
            answer = self.client.ask("POST", "/api/uploads", Upload_Length=100, Upload_Metadata=metadata(filename="part.jpg"), **headers)
            self.assertEqual((answer.status, answer["tus-resumable"]), (400, "1.0.0"), headers)
        names = [upload["name"] for upload in json.loads(self.client.ask("GET", "/api/uploads").body)["uploads"]]
        self.assertNotIn("part.jpg", names)

    def test_pages_of_a_named_site_may_send_and_read_every_header(self):
        page = "https://app.example"
        server = self.enterContext(serve(folder("library"), "--allow-origin", page))
        for path in ("/api/uploads", "/api/uploads/" + "0" * 32, "/api/trash", "/api/images", "/api/images/a"):
            asked = server.get(path, "OPTIONS", Origin=page, Access_Control_Request_Method="POST",
                               Access_Control_Request_Headers="authorization,x-request-id")
            allowed = {name.strip().lower() for name in asked["access-control-allow-headers"].split(",")}
            self.assertEqual(asked["access-control-allow-origin"], page, path)
            self.assertLessEqual({"authorization", "x-request-id", "tus-resumable", "upload-length", "upload-metadata", "upload-offset",
                                  "upload-concat", "upload-checksum", "upload-defer-length", "x-http-method-override", "content-type"},
                                 allowed, path)
        made: Answer = Client(server).ask("POST", "/api/uploads", Upload_Length=10, Origin=page, Upload_Metadata=metadata(filename="a.jpg"))
        head = Client(server).ask("HEAD", made["location"], Origin=page)
        for answer in (made, head):
            exposed = {name.strip().lower() for name in answer["access-control-expose-headers"].split(",")}
            self.assertLessEqual({name for name, _ in answer.fields if name.startswith(("tus-", "upload-"))} | {"location"}, exposed)


if __name__ == "__main__":
    unittest.main()
