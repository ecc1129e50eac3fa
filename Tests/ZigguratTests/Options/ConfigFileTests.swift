import Testing
import ZigguratTestSupport

@testable import ziggurat

@Suite struct ConfigFileTests {
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  private func parse(
    _ text: String, _ commandLine: [String] = [], _ environment: [String: String] = [:]
  ) throws -> Arguments {
    let path = try folder.write("options.conf", text.utf8)
    return try Arguments(
      commandLine + ["--config", path], command: ServeCommand.self, environment: environment)
  }

  private func complaint(_ text: String) throws -> String? {
    UsageError(try parse(text).errors)?.description.replacing(folder.path + "/", with: "")
  }

  @Test func `a file sets options, after the environment and the command line`() throws {
    let arguments = try parse(
      """
      \u{feff}# A server.
      port = 1234
        cache-size=64 MB  \r
      site-name = Maps = charts # 1
      writable = true

      host = ::1
      allow-host = a.example
      allow-host = b.example,c.example
      threads = 3
      quality = 90
      """, ["--threads", "5"], ["ZIGGURAT_HOST": "127.0.0.1"])
    #expect(try arguments.int("port", in: 0...65535) == 1234)
    #expect(try arguments.quantity("cache-size", in: 0...1 << 40) == 64 << 20)
    #expect(arguments.string("site-name") == "Maps = charts # 1")
    #expect(try arguments.flag("writable"))
    #expect(arguments.string("host") == "127.0.0.1")
    #expect(arguments.string("allow-host") == "a.example,b.example,c.example")
    #expect(try arguments.int("threads", in: 1...9) == 5)
    // An option of builds.
    #expect(arguments.string("quality") == nil)
    #expect(arguments.warnings == [])
    #expect(arguments.spelled("port") == "port in line 2 of \(folder.path)/options.conf")
  }

  @Test func `a deprecated flag that is not set leaves its option unset`() throws {
    let arguments = try parse("no-uploads = false\nupload-types = jpeg")
    #expect(arguments.string("upload-types") == "jpeg")
    let place = "no-uploads in line 1 of \(folder.path)/options.conf"
    #expect(arguments.warnings == ["\(place) is now called upload-types (the old name works until 2.0)"])
  }

  @Test func `a file may have options of an earlier release`() throws {
    let arguments = try parse("cache-memory = 5\nno-uploads = true\nmax-uploads = 3\nlinear-light = true")
    #expect(arguments.string("cache-size") == "5")
    #expect(arguments.string("upload-types") == "none")
    let file = "of \(folder.path)/options.conf"
    #expect(
      arguments.warnings == [
        "cache-memory in line 1 \(file) is now called cache-size (the old name works until 2.0)",
        "no-uploads in line 2 \(file) is now called upload-types=none (the old name works until 2.0)",
        "max-uploads in line 3 \(file) has no effect any more: the limit is 1000",
      ])
  }

  @Test func `a list on the command line replaces the one of the file`() throws {
    let arguments = try parse("allow-host = a\nallow-host = b", ["--allow-host", "c"])
    #expect(arguments.string("allow-host") == "c")
  }

  @Test(arguments: [
    ("port = 1\nprot = 2", "unknown option 'prot' in line 2 of options.conf; did you mean 'port'?"),
    ("\n\n--port = 1", "unknown option '--port' in line 3 of options.conf; did you mean 'port'?"),
    ("colour = red", "unknown option 'colour' in line 1 of options.conf"),
    ("config = other", "unknown option 'config' in line 1 of options.conf"),
    ("only = x", "unknown option 'only' in line 1 of options.conf"),
    ("writable please", "cannot read line 1 of options.conf: expected NAME = VALUE"),
    ("= 3", "cannot read line 1 of options.conf: expected NAME = VALUE"),
    ("port = 1\nport = 1", "port in line 2 of options.conf cannot be given twice"),
    (
      "port\nprot = 2\nno line\nport = 1\nuploads = x",
      "cannot read line 3 of options.conf: expected NAME = VALUE\n"
        + "unknown option 'prot' in line 2 of options.conf; did you mean 'port'?\n"
        + "port in line 4 of options.conf cannot be given twice\n"
        + "invalid value 'x' for uploads in line 5 of options.conf (expected no or yes)"
    ),
  ])
  func `an unusable line is reported with its number`(text: String, message: String) throws {
    #expect(try complaint(text) == message)
  }

  @Test func `an unusable value is reported with its line`() throws {
    let arguments = try parse("# Ports\nport = many")
    let error = #expect(throws: UsageError.self) { try arguments.int("port", in: 0...65535) }
    #expect(
      error?.description
        == "invalid value 'many' for port in line 2 of \(folder.path)/options.conf (expected a whole number from 0 to 65535)"
    )
  }

  @Test func `a file that cannot be read is reported`() throws {
    let path = folder.path + "/none"
    let serve = try Arguments([], command: ServeCommand.self, environment: ["ZIGGURAT_CONFIG": path])
    #expect(serve.errors.map(\.description) == ["cannot read \(path): no such file or directory"])
    let error = #expect(throws: UsageError.self) {
      try Arguments([], command: BuildCommand.self, environment: ["ZIGGURAT_CONFIG": path])
    }
    #expect(error?.description == "cannot read \(path): no such file or directory")
    #expect(throws: UsageError.self) {
      try Arguments(["--config", "/dev/zero"], command: BuildCommand.self, environment: [:])
    }
  }
}
