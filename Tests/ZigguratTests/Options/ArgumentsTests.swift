import Testing
import ZigguratText

@testable import ziggurat

@Suite struct ArgumentsTests {
  private static let options = [
    Option("library", "DIR", help: ""), Option("tile-size", "512", help: ""),
    Option("quality", "80", help: ""),
    Option("jobs", "N", help: ""), Option("quiet", help: ""), Option("json", help: ""),
    Option("min-scale", "S", help: ""), Option("max-scale", "S", help: ""),
    Option("name", "NAME", isList: true, help: ""), Option("depth", "N", requires: "json", help: ""),
    Option("cache-size", .megabytes, was: "cache-memory", help: ""),
    Option("names", "NAME", isList: true, was: "titles", help: ""),
    Option("public-files", was: "offer", help: ""),
    Option(
      "types", "TYPES", was: Option.FormerName("uploads", values: ["yes": "all", "no": "none"]),
      Option.FormerName(flag: "no-uploads", value: "none"), help: ""),
    Option(removed: "max-url", "SIZE", was: "url", withReason: "it is 4KB"),
    Option("config", "FILE", help: ""),
  ]

  private func parse(_ commandLine: [String], _ environment: [String: String] = [:]) throws -> Arguments {
    try Arguments(commandLine, command: BuildCommand.self, options: Self.options, environment: environment)
  }

  private func complaint(_ commandLine: [String], _ environment: [String: String] = [:]) -> String? {
    do {
      _ = try parse(commandLine, environment)
      return nil
    } catch { return "\(error)" }
  }

  @Test(arguments: [
    (["--tile-size", "256"], "256"), (["--tile-size=256"], "256"), (["a", "--tile-size=256", "b"], "256"),
    (["--tile-size="], ""), (["--tile-size", ""], ""), (["--tile-size=a=b"], "a=b"),
    (["--tile-size", "--quiet"], "--quiet"), (["--tile-size", "-5"], "-5"), (["--tile-size", "--"], "--"),
    (["--", "--tile-size", "256"], nil), ([], nil),
  ])
  func `an option's value follows it, after a space or an equals sign`(commandLine: [String], value: String?)
    throws
  {
    #expect(try parse(commandLine).string("tile-size") == value)
  }

  @Test(arguments: [
    (["--name", "a"], "a"), (["--name", "a", "--name=b"], "a,b"),
    (["--name", "a,b", "x", "--name", "c"], "a,b,c"), ([], "d"),
  ])
  func `an option that takes a list may be given several times`(commandLine: [String], value: String) throws {
    #expect(try parse(commandLine, ["ZIGGURAT_NAME": "d"]).string("name") == value)
  }

  @Test(arguments: [
    ([], []), (["a", "b"], ["a", "b"]), (["a", "--quiet", "b"], ["a", "b"]), (["-"], ["-"]), ([""], [""]),
    (["--", "-a", "--quiet", "--"], ["-a", "--quiet", "--"]), (["--jobs", "a", "b"], ["b"]),
    (["--quiet", "true"], ["true"]),
  ])
  func `other arguments are operands`(commandLine: [String], operands: [String]) throws {
    #expect(try parse(commandLine).operands == operands)
  }

  @Test(arguments: [
    (["--tilesize", "1"], "unknown option '--tilesize'; did you mean '--tile-size'?"),
    (["--tile_size=1"], "unknown option '--tile_size'; did you mean '--tile-size'?"),
    (["--libary", "x"], "unknown option '--libary'; did you mean '--library'?"),
    (["--qualtiy=5"], "unknown option '--qualtiy'; did you mean '--quality'?"),
    (["--min-scal"], "unknown option '--min-scal'; did you mean '--min-scale'?"),
    (["-quiet"], "unknown option '-quiet'; did you mean '--quiet'?"),
    (["--Quiet"], "unknown option '--Quiet'; did you mean '--quiet'?"),
    (["---quiet"], "unknown option '---quiet'; did you mean '--quiet'?"),
    (["--colour"], "unknown option '--colour' (see 'ziggurat help build')"),
    (["-j"], "unknown option '-j' (see 'ziggurat help build')"),
    (["--=5"], "unknown option '--' (see 'ziggurat help build')"),
    (["--é"], "unknown option '--é' (see 'ziggurat help build')"),
  ])
  func `an unknown option is reported with the one that was meant`(commandLine: [String], message: String) {
    #expect(complaint(commandLine) == message)
  }

  @Test(arguments: [
    (["--jobs"], "--jobs requires a value: --jobs N"),
    (["a", "--quiet", "--library"], "--library requires a value: --library DIR"),
    (["--quiet=true"], "--quiet does not take a value"), (["--quiet="], "--quiet does not take a value"),
    (["--jobs", "1", "--jobs", "2"], "--jobs cannot be given twice"),
    (["--jobs=1", "--jobs", "1"], "--jobs cannot be given twice"),
    (["--quiet", "--quiet"], "--quiet cannot be given twice"),
  ])
  func `a missing, needless or second value is reported`(commandLine: [String], message: String) {
    #expect(complaint(commandLine) == message)
  }

  @Test func `the environment sets every option, the command line wins`() throws {
    let environment = [
      "ZIGGURAT_TILE_SIZE": "128", "ZIGGURAT_JOBS": "3", "ZIGGURAT_QUIET": "1", "ZIGGURAT_MIN_SCALE": "0.5",
      "TILE_SIZE": "1", "ZIGGURAT_UNKNOWN": "x", "ziggurat_quality": "1",
    ]
    let arguments = try parse(["--jobs", "5"], environment)
    #expect(arguments.string("tile-size") == "128")
    #expect(arguments.string("min-scale") == "0.5")
    #expect(arguments.string("jobs") == "5")
    #expect(arguments.string("quality") == nil)
    #expect(try arguments.flag("quiet"))
    #expect(try !arguments.flag("json"))
    #expect(arguments.spelled("tile-size") == "ZIGGURAT_TILE_SIZE")
    #expect(arguments.spelled("jobs") == "--jobs")
    #expect(arguments.spelled("quality") == "--quality")
  }

  @Test(arguments: [
    ("1", true), ("true", true), ("TRUE", true), ("yes", true), ("0", false), ("false", false), ("No", false),
    ("", false),
  ])
  func `a flag can be set in the environment`(text: String, isSet: Bool) throws {
    #expect(try parse([], ["ZIGGURAT_QUIET": text]).flag("quiet") == isSet)
    #expect(try parse(["--quiet"], ["ZIGGURAT_QUIET": text]).flag("quiet"))
  }

  @Test func `an invalid flag is reported by its name in the environment`() throws {
    let arguments = try parse([], ["ZIGGURAT_QUIET": "maybe"])
    let error = #expect(throws: UsageError.self) { try arguments.flag("quiet") }
    #expect(error?.description == "invalid value 'maybe' for ZIGGURAT_QUIET (expected true or false)")
  }

  @Test(arguments: [("1", 1), ("100", 100), ("080", 80), ("+7", 7)])
  func `a number within its range is accepted`(text: String, number: Int) throws {
    #expect(try parse(["--quality", text]).int("quality", in: 1...100) == number)
  }

  @Test(arguments: [
    "0", "101", "-1", "", " 5", "5 ", "5.0", "1e1", "0x10", "eighty", "99999999999999999999", "٨٠", "NaN",
    "1_0",
  ])
  func `an invalid number is reported with the range`(text: String) throws {
    let given = try parse(["--quality=\(text)"])
    let error = #expect(throws: UsageError.self) { try given.int("quality", in: 1...100) }
    #expect(
      error?.description == "invalid value '\(text)' for --quality (expected a whole number from 1 to 100)")
    let set = try parse([], ["ZIGGURAT_QUALITY": text])
    let other = #expect(throws: UsageError.self) { try set.int("quality", in: 1...100) }
    #expect(
      other?.description
        == "invalid value '\(text)' for ZIGGURAT_QUALITY (expected a whole number from 1 to 100)")
  }

  /// In the environment it may be meant for another command.
  @Test func `an option without the one that it requires is an error on the command line`() {
    #expect(complaint(["--depth", "3"]) == "--depth requires --json")
    #expect(complaint(["--depth", "3", "--json"]) == nil)
    #expect(complaint(["--depth", "3"], ["ZIGGURAT_JSON": "1"]) == nil)
    #expect(complaint([], ["ZIGGURAT_DEPTH": "3"]) == nil)
  }

  @Test func `all errors that can be found are reported, one line for each`() {
    let commandLine = ["--jobs", "1", "--jobs", "2", "--uploads", "x", "--depth", "3"]
    #expect(
      complaint(commandLine, ["ZIGGURAT_NO_UPLOADS": "maybe"])
        == """
        --jobs cannot be given twice
        invalid value 'x' for --uploads (expected no or yes)
        --depth requires --json
        """)
    // The meaning of later arguments depends on it.
    #expect(
      complaint(["--jobs", "1", "--jobs", "2", "--x"]) == "unknown option '--x' (see 'ziggurat help build')")
  }

  @Test func `a missing option or operand is reported`() throws {
    let none = try parse([])
    #expect(try none.int("quality", in: 1...100) == nil)
    for empty in [none, try parse(["--library="]), try parse([], ["ZIGGURAT_LIBRARY": ""])] {
      let error = #expect(throws: UsageError.self) { try empty.required("library") }
      #expect(error?.description == "missing option --library (see 'ziggurat help build')")
    }
    #expect(try parse(["--library", "x"]).required("library") == "x")
    #expect(try parse(["x"]).onlyOperand("archive") == "x")
    let missing = #expect(throws: UsageError.self) { try none.onlyOperand("archive") }
    #expect(missing?.description == "missing archive (usage: ziggurat build SOURCE… --library DIR)")
    let two = try parse(["x", "y"])
    let spare = #expect(throws: UsageError.self) { try two.onlyOperand("archive") }
    #expect(spare?.description == "unexpected argument 'y' after the archive")
  }

  @Test(
    arguments: [
      ("biuld", "build"), ("serv", "serve"), ("tile", "tiles"), ("inspekt", "inspect"), ("verfy", "verify"),
      ("SERVE", "serve"), ("x", nil), ("", nil), ("delete", nil),
    ] as [(String, String?)])
  func `the nearest name is found, if one is near`(word: String, near: String?) {
    #expect(nearest(word, Ziggurat.commands.map { $0.name }) == near)
  }

  @Test(arguments: [
    (["--cache-memory", "64"], "cache-size", "64", "--cache-memory is now called --cache-size"),
    (["--cache-memory=64"], "cache-size", "64", "--cache-memory is now called --cache-size"),
    (["--offer"], "public-files", "true", "--offer is now called --public-files"),
    (["--uploads", "no"], "types", "none", "--uploads is now called --types"),
    (["--uploads=yes"], "types", "all", "--uploads is now called --types"),
    (["--no-uploads"], "types", "none", "--no-uploads is now called --types=none"),
    (["--titles", "a", "--titles", "b", "--names", "c"], "names", "a,b,c", "--titles is now called --names"),
    (["--names", "a", "--titles=b", "--titles=c"], "names", "a,b,c", "--titles is now called --names"),
  ])
  func `a deprecated name works with one warning`(
    commandLine: [String], name: String, value: String, warning: String
  )
    throws
  {
    let arguments = try parse(commandLine)
    #expect(arguments.string(name) == value)
    #expect(arguments.warnings == [warning + " (the old name works until 2.0)"])
  }

  @Test func `a deprecated name works in the environment, after the present one`() throws {
    let former = try parse([], ["ZIGGURAT_CACHE_MEMORY": "64", "ZIGGURAT_UPLOADS": "no"])
    #expect(former.string("cache-size") == "64")
    #expect(former.string("types") == "none")
    #expect(former.spelled("cache-size") == "ZIGGURAT_CACHE_MEMORY")
    #expect(
      former.warnings == [
        "ZIGGURAT_CACHE_MEMORY is now called ZIGGURAT_CACHE_SIZE (the old name works until 2.0)",
        "ZIGGURAT_UPLOADS is now called ZIGGURAT_TYPES (the old name works until 2.0)",
      ])
    let both = try parse([], ["ZIGGURAT_CACHE_MEMORY": "64", "ZIGGURAT_CACHE_SIZE": "65"])
    #expect(both.string("cache-size") == "65")
    #expect(both.warnings == [])
    let given = try parse(["--cache-size", "66"], ["ZIGGURAT_CACHE_MEMORY": "64"])
    #expect(given.string("cache-size") == "66")
  }

  @Test func `a deprecated flag in the environment may be off`() throws {
    let off = try parse([], ["ZIGGURAT_NO_UPLOADS": "false"])
    #expect(off.string("types") == nil)
    let wrong = complaint([], ["ZIGGURAT_NO_UPLOADS": "maybe"])
    #expect(wrong == "invalid value 'maybe' for ZIGGURAT_NO_UPLOADS (expected true or false)")
    #expect(complaint(["--no-uploads=yes"]) == "--no-uploads does not take a value")
    #expect(complaint(["--no-uploads", "--types", "all"]) == "--types cannot be given twice")
  }

  @Test func `an option without effect warns, and may have any value`() throws {
    let arguments = try parse(["--max-url", "x", "--url=y", "z"], ["ZIGGURAT_MAX_URL": "1"])
    #expect(arguments.operands == ["z"])
    #expect(arguments.string("max-url") == nil)
    #expect(
      arguments.warnings
        == ["--max-url", "--url", "ZIGGURAT_MAX_URL"].map { "\($0) has no effect any more: it is 4KB" })
    #expect(complaint(["--urll"]) == "unknown option '--urll' (see 'ziggurat help build')")
  }

  @Test func `an error names the option as it was given`() throws {
    #expect(complaint(["--cache-memory", "1", "--cache-size", "1"]) == "--cache-size cannot be given twice")
    #expect(complaint(["--uploads", "x"]) == "invalid value 'x' for --uploads (expected no or yes)")
    #expect(complaint(["--uploads"]) == "--uploads requires a value: --uploads no|yes")
    let arguments = try parse(["--cache-memory", "x"])
    let error = #expect(throws: UsageError.self) { try arguments.quantity("cache-size", in: 0...1 << 40) }
    #expect(
      error?.description
        == "invalid value 'x' for --cache-memory (expected 0 to 1TB, or a plain number of MB)")
  }

  @Test func `a quantity has a unit, or that of the option`() throws {
    #expect(try parse(["--cache-size", "64"]).quantity("cache-size", in: 0...1 << 40) == 64 << 20)
    #expect(try parse(["--cache-size", "64KB"]).quantity("cache-size", in: 0...1 << 40) == 64 << 10)
    #expect(try parse([]).quantity("cache-size", in: 0...1 << 40) == nil)
    let large = try parse(["--cache-size", "2TB"])
    #expect(throws: UsageError.self) { try large.quantity("cache-size", in: 0...1 << 40) }
  }
}
