import Testing
import ZigguratFiles

@testable import ZigguratObjectStore

/// Addresses, and how stores are reached.
struct ObjectSettingsTests {
  private static func settings(
    _ environment: [String: String], _ files: [String: String] = [:]
  ) throws -> ObjectSettings {
    try ObjectSettings(environment.merging(["HOME": "/home/me"]) { own, _ in own }) { files[$0] }
  }

  private static let bucket = BucketName("pictures")!

  @Test(
    "an address has a bucket and a prefix",
    arguments: [
      ("s3://pictures", "pictures", ""), ("s3://pictures/", "pictures", ""),
      ("s3://my.pictures-2/a/b", "my.pictures-2", "a/b/"), ("s3://pictures/a_B~.c/", "pictures", "a_B~.c/"),
    ])
  func addresses(_ text: String, _ bucket: String, _ prefix: String) throws {
    let address = try #require(ObjectAddress(text))
    #expect(address.bucket.text == bucket && address.prefix == prefix)
    #expect(ObjectAddress(address.description) == address)
  }

  @Test(
    "other texts are rejected as addresses",
    arguments: [
      "", "pictures", "s3:/pictures", "s3://", "s3:///a", "s3://Pictures", "s3://ab", "s3://a..b", "s3://-ab",
      "s3://pic tures", "s3://pictures//a", "s3://pictures/a//b", "s3://pictures/a/../b", "s3://pictures/.",
      "s3://pictures/ä", "s3://pictures/a b", "s3://pictures/a?b", "s3://pictures/a%20b", "s3://u@pictures/a",
      "s3://pictures:80/a", "http://pictures/a",
    ])
  func noAddresses(_ text: String) { #expect(ObjectAddress(text) == nil) }

  @Test(
    "the addressing style sets the bucket's position in a URL",
    arguments: [
      ([:], "https://pictures.s3.us-east-1.amazonaws.com/a/b"),
      (["AWS_REGION": "eu-west-3"], "https://pictures.s3.eu-west-3.amazonaws.com/a/b"),
      (["AWS_DEFAULT_REGION": "eu-west-3"], "https://pictures.s3.eu-west-3.amazonaws.com/a/b"),
      (["AWS_ENDPOINT_URL": "http://127.0.0.1:9000/"], "http://127.0.0.1:9000/pictures/a/b"),
      (
        ["AWS_ENDPOINT_URL": "http://other", "AWS_ENDPOINT_URL_S3": "https://store.example"],
        "https://store.example/pictures/a/b"
      ),
      (["AWS_PROFILE": "virtual"], "https://pictures.store.example:8443/a/b"),
      (["AWS_PROFILE": "numbers"], "http://[::1]:8080/pictures/a/b"),
      (["AWS_PROFILE": "path"], "https://s3.us-east-1.amazonaws.com/pictures/a/b"),
    ] as [([String: String], String)])
  func urls(_ environment: [String: String], _ url: String) throws {
    let config = """
      [profile virtual]
      endpoint_url = https://store.example:8443
      s3 =
        addressing_style = virtual
      [profile numbers]
      endpoint_url = http://[::1]:8080
      s3 =
        addressing_style = virtual
      [profile path]
      s3 =
        addressing_style = path
      """
    #expect(try Self.settings(environment, ["/home/me/.aws/config": config]).url(Self.bucket, "a/b") == url)
  }

  @Test func `a key is percent-encoded by bytes, except its slashes`() throws {
    let url = try Self.settings(["AWS_ENDPOINT_URL": "http://store"], [:]).url(Self.bucket, "a b/\u{301}c/%+")
    #expect(url == "http://store/pictures/a%20b/%CC%81c/%25%2B")
  }

  @Test func `a bucket with dots is in the path, as no certificate covers it`() throws {
    let settings = try Self.settings([:])
    #expect(
      settings.url(BucketName("my.pictures")!, "a") == "https://s3.us-east-1.amazonaws.com/my.pictures/a")
    #expect(settings.url(Self.bucket, "") == "https://pictures.s3.us-east-1.amazonaws.com/")
  }

  @Test func `credentials are those of the environment, else of the profile in the files`() throws {
    let files = [
      "/home/me/.aws/credentials": """
      [default]
      aws_access_key_id = D
      aws_secret_access_key=sd  \r
      # a word
      [other]
      aws_access_key_id=O
      aws_secret_access_key=so=/+
      aws_session_token=token
      """,
      "/home/me/.aws/config":
        "[default]\nregion=eu-north-1\n[profile late]\naws_access_key_id=L\naws_secret_access_key=sl\n",
      "/else": "[default]\naws_access_key_id=E\naws_secret_access_key=se\n",
    ]
    func found(_ environment: [String: String]) throws -> ObjectCredentials? {
      try Self.settings(environment, files).credentials
    }
    func credentials(_ key: String, _ secret: String, _ token: String? = nil) -> ObjectCredentials? {
      ObjectCredentials(accessKey: key, secretKey: secret, sessionToken: token)
    }
    #expect(try found([:]) == credentials("D", "sd"))
    #expect(try found(["AWS_PROFILE": "other"]) == credentials("O", "so=/+", "token"))
    #expect(try found(["AWS_PROFILE": "late"]) == credentials("L", "sl"))
    #expect(try found(["AWS_SHARED_CREDENTIALS_FILE": "/else"]) == credentials("E", "se"))
    let own = ["AWS_ACCESS_KEY_ID": "X", "AWS_SECRET_ACCESS_KEY": "sx", "AWS_SESSION_TOKEN": "t"]
    #expect(try found(own) == credentials("X", "sx", "t"))
    #expect(try Self.settings([:], files).region.text == "eu-north-1")
    #expect(try Self.settings([:]).credentials == nil)
  }

  @Test(
    "invalid settings are reported",
    arguments: [
      (["AWS_PROFILE": "nobody"], "nobody"), (["AWS_REGION": "eu/west"], "eu/west"),
      (["AWS_ENDPOINT_URL_S3": "store.example"], "store.example"),
      (["AWS_ENDPOINT_URL_S3": "http://store.example/path"], "path"),
      (["AWS_ENDPOINT_URL_S3": "http://me:secret@store.example"], "endpoint"),
      (["AWS_ACCESS_KEY_ID": "a\nb", "AWS_SECRET_ACCESS_KEY": "c"], "characters"),
      (["AWS_CONFIG_FILE": "/strange"], "sideways"),
    ] as [([String: String], String)])
  func refusals(_ environment: [String: String], _ word: String) {
    let files = ["/strange": "[default]\ns3 =\n  addressing_style = sideways\n"]
    let error = #expect(throws: StorageError.self) { _ = try Self.settings(environment, files) }
    #expect(error?.reason.contains(word) == true)
  }
}
