import Foundation
import Testing
import ZigguratTestSupport

@testable import TileStorage
@testable import ZigguratHTTPServer
@testable import ZigguratTileServing
@testable import ziggurat

/// The configuration of `serve`, made without a server.
@Suite struct ServerConfigurationTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func configuration(
    _ arguments: [String], _ environment: [String: String] = [:], sockets: [InheritedSocket.Place] = []
  ) throws -> ServerConfiguration {
    try ServerConfiguration(
      Arguments(arguments, command: ServeCommand.self, environment: environment), sockets: sockets,
      environment: environment)
  }

  private func errors(
    _ arguments: [String], _ environment: [String: String] = [:], sockets: [InheritedSocket.Place] = []
  ) throws -> [String] {
    do {
      _ = try configuration(arguments, environment, sockets: sockets)
      return []
    } catch let error as UsageError {
      return error.messages.map { $0.replacing(folder.path, with: "DIR") }
    }
  }

  @Test func `without options each setting has its default`() throws {
    let found = try configuration(["library"])
    var expected = ServerConfiguration(library: .init(location: "library"))
    expected.rendering.threads = ProcessInfo.processInfo.activeProcessorCount
    #expect(found == expected)
    #expect(found.network.hosts == ["127.0.0.1"])
    #expect(found.network.port == 8080)
    #expect(found.limits.connections == 4096)
    #expect(found.limits.urlLength == 4096)
    #expect(found.rendering.timeout == 30)
    #expect(found.library.objectCacheSize == 256 << 20)
    #expect(found.changes.keepsDeleted == 86_400)
    #expect(found.spaces.offer == .auto)
    #expect(found.logs.style == .none)
    #expect(found.uploadLimits == nil)
    let access = found.access(sockets: [])
    #expect(!access.isWritable && !access.hidesMetrics && access.token == nil && access.origins == .any)
  }

  @Test func `each option sets its value`() throws {
    let found = try configuration([
      "library", "--host", "::1,127.0.0.2", "--port", "1", "--base-url", "https://example.org/images",
      "--threads", "3", "--webroot", "pages", "--site-name", "Maps", "--log", "json", "--log-file", "log",
      "--audit-log", "audit", "--render-queue", "4", "--render-timeout", "5", "--cache-size", "6",
      "--max-pixels", "7MP", "--max-header-size", "8", "--max-connections", "9",
      "--max-connections-per-address", "10", "--request-timeout", "11", "--response-timeout", "12",
      "--idle-timeout", "13", "--session-idle", "14", "--session-max-age", "15", "--private-spaces", "no",
      "--object-cache-size", "16", "--listen", "unix:/a,unix:/b", "--metrics-listen", "[::1]:17",
      "--purge-url", "http://a/,http://b/", "--purge-key-file", "key", "--tile-max-age", "18",
      "--trusted-proxy", "10.0.0.0/8", "--allow-host", "a.example", "--allow-origin", "https://b.example",
      "--frame-ancestors", "self", "--public-originals", "--writable", "--token-file", "token",
      "--keep-deleted", "19", "--max-upload-size", "20", "--max-upload-megapixels", "21",
      "--upload-types", "png,jpeg", "--keep-originals", "--server-timing",
    ])
    #expect(found.network.hosts == ["::1", "127.0.0.2"])
    #expect(found.network.port == 1)
    #expect(!found.network.listensOnPathsOnly)
    #expect(found.network.paths == ["/a", "/b"])
    #expect(found.network.metrics == .init(host: "::1", port: 17))
    #expect(found.network.metrics?.url == "http://[::1]:17/")
    #expect(found.network.baseURL == "https://example.org/images")
    #expect(found.network.trustedProxies?.text == "10.0.0.0/8")
    #expect(found.network.allowedHosts?.text == "a.example")
    #expect(found.network.allowedOrigins?.value == .listed(["https://b.example"]))
    #expect(found.network.frameAncestors?.value == .own)
    #expect(found.pages.webroot == "pages")
    #expect(found.pages.identity.name == "Maps")
    #expect(found.logs == .init(style: .json, file: "log", auditFile: "audit", sendsTimings: true))
    #expect(found.rendering.threads == 3)
    #expect(found.rendering.queue == 4)
    #expect(found.rendering.timeout == 5)
    #expect(found.rendering.cacheBytes == 6 << 20)
    #expect(found.rendering.pixels == 7_000_000)
    #expect(found.limits.headerSize == 8 << 10)
    #expect(found.limits.urlLength == 4 << 10)
    #expect(found.limits.connections == 9)
    #expect(found.limits.connectionsPerAddress == 10)
    #expect(found.limits.requestDeadline == 11)
    #expect(found.limits.answerDeadline == 12)
    #expect(found.limits.idleTimeout == 13)
    #expect(found.spaces.sessions.idle == 14)
    #expect(found.spaces.sessions.absolute == 15)
    #expect(found.spaces.offer == .no)
    #expect(found.library.objectCacheSize == 16 << 20)
    #expect(found.caches.isShared)
    #expect(found.caches.purgeURLs == ["http://a/", "http://b/"])
    #expect(found.caches.keyFile == "key")
    #expect(found.caches.tileMaxAge == 18)
    #expect(found.changes.isWritable && found.changes.publicOriginals)
    #expect(found.changes.tokenFile == "token")
    #expect(found.changes.keepsDeleted == 19 * 3600)
    #expect(found.uploadLimits?.bytes == 20 << 20)
    #expect(found.uploadLimits?.pixels == 21_000_000)
    #expect(found.uploadLimits?.kinds == [.png, .jpeg])
    #expect(found.uploadLimits?.keepsSources == true)
  }

  @Test func `options win over the environment, and the environment over a file`() throws {
    let path = try folder.write(
      "serve.conf", "port = 1\nmax-connections = 2\nrender-queue = 3\nhost = ::1\nwritable = true\n".utf8)
    let found = try configuration(
      ["library", "--config", path, "--port", "11"],
      ["ZIGGURAT_PORT": "21", "ZIGGURAT_MAX_CONNECTIONS": "22", "ZIGGURAT_WRITABLE": "no"])
    #expect(found.network.port == 11)
    #expect(found.limits.connections == 22)
    #expect(found.rendering.queue == 3)
    #expect(found.network.hosts == ["::1"])
    #expect(!found.changes.isWritable)
  }

  @Test func `a server that listens on Unix sockets only trusts its clients as proxies`() throws {
    let path = InheritedSocket.Place.path("/s")
    let address = InheritedSocket.Place.address(host: "::1", port: 80)
    for (arguments, sockets, isProxy, hasHosts) in [
      (["--listen", "unix:/a"], [], true, false), (["--listen", "unix:/a", "--port", "1"], [], false, true),
      (["--listen", "unix:/a", "--trusted-proxy", "none"], [], false, false), ([], [], false, true),
      ([], [path], true, false), ([], [path, address], false, false), (["--port", "1"], [path], true, false),
    ] as [([String], [InheritedSocket.Place], Bool, Bool)] {
      let found = try configuration(["library"] + arguments, sockets: sockets)
      #expect(found.access(sockets: sockets).proxies.trusts(nil) == isProxy, "\(arguments) \(sockets)")
      #expect(found.hosts(besides: sockets) == (hasHosts ? ["127.0.0.1"] : []), "\(arguments) \(sockets)")
    }
  }

  @Test(
    arguments: [
      ("--port", "70000", "a whole number from 0 to 65535"),
      ("--host", "a,a", "different addresses with commas between"),
      ("--threads", "0", "a whole number from 1 to 256"), ("--private-spaces", "maybe", "yes, no or auto"),
      ("--base-url", "x", "a URL such as https://example.org/images"),
      ("--log", "loud", "text, json or none"),
      ("--listen", "/a", "unix:PATH, several with commas between"),
      ("--metrics-listen", "::1:80", "ADDRESS:PORT, such as 127.0.0.1:8079"),
      ("--cache-size", "x", "0 to 1TB, or a plain number of MB"),
      ("--site-name", " ", "a line of at most 200 bytes"),
      ("--purge-url", "a", "URLs such as http://127.0.0.1:6081/, several with commas between"),
      ("--advertise-url", "a", "a URL such as https://example.org/images"),
    ])
  func `an invalid value is one error`(option: String, value: String, expected: String) throws {
    let arguments = option == "--advertise-url" ? ["--catalog", "postgresql://x/y"] : []
    let place = arguments.isEmpty ? folder.path : "s3://bucket/x"
    #expect(
      try errors([place, option, value] + arguments) == [
        "invalid value '\(value)' for \(option) (expected \(expected))"
      ])
  }

  @Test(
    arguments: [
      ([], "--token-file x", ["--token-file requires --writable"]),
      ([], "--purge-key-file x", ["--purge-key-file requires --shared-cache or --purge-url"]),
      ([], "--log-file x", ["--log-file requires --log text or --log json"]),
      ([], "--library x", ["--library requires --build"]),
      ([], "--password-file x", ["--password-file requires --space"]),
      ([], "--advertise-url http://x", ["--advertise-url requires --catalog"]),
      ([], "--build --writable --library x", ["--build cannot be used with --writable"]),
      ([], "--build --space --library x", ["--build cannot be used with --space"]),
      (
        [], "--build --library DIR",
        ["invalid value 'DIR' for --library (expected another folder than that of the images)"]
      ),
      (
        [], "--build", ["--build requires --library DIR (HOME is not set, so there is no folder for a cache)"]
      ),
      (["/nowhere"], "--build", ["--build requires a folder of images ('/nowhere' is not a folder)"]),
      (["DIR/a.szi"], "--writable", ["--writable cannot be used with one archive: DIR/a.szi"]),
      (
        ["s3://b/x"], "--writable",
        ["--writable cannot be used with a library in an object store without --catalog: s3://b/x"]
      ),
      (
        [], "--writable --upload-dir DIR",
        ["--upload-dir requires a library in an object store and --catalog"]
      ),
      (
        ["s3://b/x"], "--catalog postgresql://a/b --writable --upload-dir DIR/none",
        ["invalid value 'DIR/none' for --upload-dir (expected an existing folder)"]
      ),
      (
        ["s3://b/x"], "--catalog postgresql://a/b --writable --upload-dir DIR --keep-originals",
        ["--keep-originals cannot be used with a library in an object store"]
      ),
      (
        ["s3://b/x"], "--catalog secret",
        ["--catalog requires a URL of the form postgresql://USER@HOST/DATABASE"]
      ),
      (
        [], "--catalog postgresql://a/b",
        ["--catalog requires a library in an object store; others have a catalog of their own"]
      ),
      (
        ["s3://b/x"], "--catalog postgresql://a/b --writable --keep-deleted 3d",
        [
          "invalid value '3d' for --keep-deleted (expected at most 48 hours for an object store, where "
            + "'reindex --gc' removes archives)"
        ]
      ),
      (
        ["s3://b/x"], "--shared-cache",
        [
          "--shared-cache requires --purge-key-file unless a library's folder is served ('openssl rand -hex 32' "
            + "prints a key)"
        ]
      ),
      (["s3://b/x"], "--space", ["--space cannot be used with a library in an object store"]),
      (
        [], "--space --host 127.0.0.1,::",
        ["--space cannot be used with --host ::, which other machines can reach"]
      ),
      ([], "--space --log text", ["--space cannot be used with --log"]),
      ([], "--space --audit-log x", ["--space cannot be used with --audit-log"]),
      ([], "--space --private-spaces yes", ["--space cannot be used with --private-spaces"]),
      ([], "--space --writable", ["--space cannot be used with --writable"]),
      ([], "--space --shared-cache", ["--space cannot be used with --shared-cache"]),
    ] as [([String], String, [String])])
  func `a contradiction is one error`(operands: [String], options: String, messages: [String]) throws {
    try folder.write("a.szi", [])
    let arguments = (operands.isEmpty ? ["DIR"] : operands) + options.split(separator: " ").map(String.init)
    #expect(try errors(arguments.map { $0.replacing("DIR", with: folder.path) }) == messages)
  }

  @Test func `a private space is not served at sockets that other machines reach`() throws {
    let socket = InheritedSocket.Place.address(host: "0.0.0.0", port: 1)
    #expect(
      try errors([folder.path, "--space"], sockets: [socket]) == [
        "--space cannot be used with a socket of systemd at 0.0.0.0, which other machines can reach"
      ])
  }

  @Test func `all errors are reported together, each once, as the option was given`() throws {
    let path = try folder.write("serve.conf", "prot = 1\nlog = loud\n".utf8)
    let found = try errors(
      [
        folder.path, "--config", path, "--space", "--writable", "--port", "x", "--host", "::", "--host", "::",
        "--threads", "1", "--threads", "2", "--max-upload-size", "0",
      ],
      ["ZIGGURAT_AUDIT_LOG": "x", "ZIGGURAT_PURGE_KEY_FILE": "x", "ZIGGURAT_MAX_PIXELS": "1"])
    #expect(
      found == [
        "--threads cannot be given twice",
        "unknown option 'prot' in line 1 of DIR/serve.conf; did you mean 'port'?",
        "invalid value '::,::' for --host (expected different addresses with commas between)",
        "invalid value 'x' for --port (expected a whole number from 0 to 65535)",
        "invalid value '0' for --max-upload-size (expected 1MB to 4TB, or a plain number of MB)",
        "invalid value '1' for ZIGGURAT_MAX_PIXELS (expected 10000px to 1GP, or a plain number of pixels)",
        "invalid value 'loud' for log in line 2 of DIR/serve.conf (expected text, json or none)",
        "--space cannot be used with ZIGGURAT_AUDIT_LOG", "--space cannot be used with --writable",
        "ZIGGURAT_PURGE_KEY_FILE requires --shared-cache or --purge-url",
      ])
    #expect(
      try errors(["--token-file", "x", "--build", "--catalog", "postgresql://a/b"]).sorted() == [
        "--token-file requires --writable",
        "missing library folder (usage: ziggurat serve DIR|ARCHIVE|s3://BUCKET/PREFIX)",
      ])
  }

  @Test func `the program prints a line for each error and ends with 2`() throws {
    let outcome = try Program.run(["serve", folder.path, "--port", "x", "--token-file", "x"])
    #expect(outcome.code == 2)
    #expect(outcome.output == "")
    #expect(
      outcome.error == """
        ziggurat: --token-file requires --writable
        ziggurat: invalid value 'x' for --port (expected a whole number from 0 to 65535)

        """)
  }

  @Test func `a configuration is the same after it was encoded and decoded`() throws {
    let provider = "Museum <https://museum.example>"
    for arguments in [
      ["library"],
      [
        folder.path, "--build", "--library", "x", "--site-name", "Maps", "--provider", provider, "--log",
        "text",
        "--trusted-proxy", "10.0.0.0/8,unix", "--allow-host", "*.example.org", "--allow-origin", "none",
        "--frame-ancestors", "https://*.example.org", "--metrics-listen", "127.0.0.1:1", "--base-url", "auto",
        "--purge-url", "http://a/", "--render-timeout", "7", "--private-spaces", "yes",
      ],
      [
        "s3://bucket/x", "--catalog", "postgresql://me@host/db", "--writable", "--upload-dir", folder.path,
        "--upload-types", "png", "--advertise-url", "http://a",
      ],
    ] {
      let configuration = try configuration(arguments)
      let json = try JSONEncoder().encode(configuration)
      #expect(try JSONDecoder().decode(ServerConfiguration.self, from: json) == configuration)
    }
  }

  @Test func `an encoded configuration contains no secrets`() throws {
    let token = try folder.write("token", "a-token-of-some-length\n".utf8)
    let found = try configuration([
      "s3://bucket/x", "--catalog", "postgresql://me:hidden@host/db?password=secret", "--writable",
      "--token-file",
      token,
    ])
    #expect(found.library.catalog?.text.contains("hidden") == true)
    let json = String(decoding: try JSONEncoder().encode(found), as: UTF8.self)
    for secret in ["hidden", "secret", "a-token"] { #expect(!json.contains(secret), "\(json)") }
    #expect(json.contains("***"))
  }

  @Test func `an invalid value cannot be decoded`() throws {
    let json = Data(#"{"text":"*"}"#.utf8)
    #expect(throws: (any Error).self) { try JSONDecoder().decode(TextValue<TrustedProxies>.self, from: json) }
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(TextValue<TrustedProxies>.self, from: Data(#""10.0.0.0/33""#.utf8))
    }
  }
}
