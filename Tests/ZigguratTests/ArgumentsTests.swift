import HTTPMessages
import Testing

@testable import ziggurat

@Suite struct ArgumentsTests {
  private static let options = [
    Option("library", "DIR", help: ""), Option("tile-size", "512", help: ""),
    Option("quality", "80", help: ""),
    Option("jobs", "N", help: ""), Option("quiet", help: ""), Option("json", help: ""),
    Option("min-scale", "S", help: ""), Option("max-scale", "S", help: ""),
    Option("name", "NAME", isList: true, help: ""), Option("depth", "N", needs: "json", help: ""),
  ]

  private func parse(_ words: [String], _ environment: [String: String] = [:]) throws -> Arguments {
    try Arguments(words, command: "build", options: Self.options, environment: environment)
  }

  private func complaint(_ words: [String], _ environment: [String: String] = [:]) -> String? {
    do {
      _ = try parse(words, environment)
      return nil
    } catch { return "\(error)" }
  }

  @Test(arguments: [
    (["--tile-size", "256"], "256"), (["--tile-size=256"], "256"), (["a", "--tile-size=256", "b"], "256"),
    (["--tile-size="], ""), (["--tile-size", ""], ""), (["--tile-size=a=b"], "a=b"),
    (["--tile-size", "--quiet"], "--quiet"), (["--tile-size", "-5"], "-5"), (["--tile-size", "--"], "--"),
    (["--", "--tile-size", "256"], nil), ([], nil),
  ])
  func `an option's value follows it, after a space or an equals sign`(words: [String], value: String?) throws
  {
    #expect(try parse(words).string("tile-size") == value)
  }

  @Test(arguments: [
    (["--name", "a"], "a"), (["--name", "a", "--name=b"], "a,b"),
    (["--name", "a,b", "x", "--name", "c"], "a,b,c"), ([], "d"),
  ])
  func `an option that takes a list may be given several times`(words: [String], value: String) throws {
    #expect(try parse(words, ["ZIGGURAT_NAME": "d"]).string("name") == value)
  }

  @Test(arguments: [
    ([], []), (["a", "b"], ["a", "b"]), (["a", "--quiet", "b"], ["a", "b"]), (["-"], ["-"]), ([""], [""]),
    (["--", "-a", "--quiet", "--"], ["-a", "--quiet", "--"]), (["--jobs", "a", "b"], ["b"]),
    (["--quiet", "true"], ["true"]),
  ])
  func `what is no option is an operand`(words: [String], operands: [String]) throws {
    #expect(try parse(words).operands == operands)
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
    (["--colour"], "unknown option '--colour'; see 'ziggurat help build'"),
    (["-j"], "unknown option '-j'; see 'ziggurat help build'"),
    (["--=5"], "unknown option '--'; see 'ziggurat help build'"),
    (["--é"], "unknown option '--é'; see 'ziggurat help build'"),
  ])
  func `an unknown option is told with the one that was meant`(words: [String], message: String) {
    #expect(complaint(words) == message)
  }

  @Test(arguments: [
    (["--jobs"], "option '--jobs' needs a value: --jobs N"),
    (["a", "--quiet", "--library"], "option '--library' needs a value: --library DIR"),
    (["--quiet=true"], "option '--quiet' takes no value"), (["--quiet="], "option '--quiet' takes no value"),
    (["--jobs", "1", "--jobs", "2"], "option '--jobs' is given twice"),
    (["--jobs=1", "--jobs", "1"], "option '--jobs' is given twice"),
    (["--quiet", "--quiet"], "option '--quiet' is given twice"),
  ])
  func `a missing, needless or second value is told`(words: [String], message: String) {
    #expect(complaint(words) == message)
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
  func `a flag in the environment`(text: String, isSet: Bool) throws {
    #expect(try parse([], ["ZIGGURAT_QUIET": text]).flag("quiet") == isSet)
    #expect(try parse(["--quiet"], ["ZIGGURAT_QUIET": text]).flag("quiet"))
  }

  @Test func `a flag that is neither is told by its name in the environment`() throws {
    let arguments = try parse([], ["ZIGGURAT_QUIET": "maybe"])
    let error = #expect(throws: UsageError.self) { try arguments.flag("quiet") }
    #expect(error?.description == "ZIGGURAT_QUIET is 'maybe'; it takes true or false")
  }

  @Test(arguments: [("1", 1), ("100", 100), ("080", 80), ("+7", 7)])
  func `a whole number within its range`(text: String, number: Int) throws {
    #expect(try parse(["--quality", text]).int("quality", in: 1...100) == number)
  }

  @Test(arguments: [
    "0", "101", "-1", "", " 5", "5 ", "5.0", "1e1", "0x10", "eighty", "99999999999999999999", "٨٠", "NaN",
    "1_0",
  ])
  func `a number that is none or out of range is told with the range`(text: String) throws {
    let reason = "is '\(text)'; it takes a whole number from 1 to 100"
    let given = try parse(["--quality=\(text)"])
    let error = #expect(throws: UsageError.self) { try given.int("quality", in: 1...100) }
    #expect(error?.description == "--quality \(reason)")
    let set = try parse([], ["ZIGGURAT_QUALITY": text])
    let other = #expect(throws: UsageError.self) { try set.int("quality", in: 1...100) }
    #expect(other?.description == "ZIGGURAT_QUALITY \(reason)")
  }

  /// In the environment it waits for the command that has the other one.
  @Test func `what means nothing alone is a mistake on the command line`() {
    #expect(complaint(["--depth", "3"]) == "--depth has no meaning without --json")
    #expect(complaint(["--depth", "3", "--json"]) == nil)
    #expect(complaint(["--depth", "3"], ["ZIGGURAT_JSON": "1"]) == nil)
    #expect(complaint([], ["ZIGGURAT_DEPTH": "3"]) == nil)
  }

  @Test func `what a command cannot do without`() throws {
    let none = try parse([])
    #expect(try none.int("quality", in: 1...100) == nil)
    for empty in [none, try parse(["--library="]), try parse([], ["ZIGGURAT_LIBRARY": ""])] {
      let error = #expect(throws: UsageError.self) { try empty.required("library") }
      #expect(error?.description == "option '--library' is missing; see 'ziggurat help build'")
    }
    #expect(try parse(["--library", "x"]).required("library") == "x")
    #expect(try parse(["x"]).onlyOperand("the archive") == "x")
    let missing = #expect(throws: UsageError.self) { try none.onlyOperand("the archive") }
    #expect(missing?.description == "the archive is missing; see 'ziggurat help build'")
    let two = try parse(["x", "y"])
    let spare = #expect(throws: UsageError.self) { try two.onlyOperand("the archive") }
    #expect(spare?.description == "unexpected 'y' behind the archive")
  }

  @Test(
    arguments: [
      ("biuld", "build"), ("serv", "serve"), ("tile", "tiles"), ("inspekt", "inspect"), ("verfy", "verify"),
      ("SERVE", "serve"), ("x", nil), ("", nil), ("delete", nil),
    ] as [(String, String?)])
  func `the nearest word, where one is near`(word: String, near: String?) {
    #expect(nearest(word, Ziggurat.commands.map { $0.name }) == near)
  }

  @Test func `help names every option of every command with its place in the environment`() {
    for command in Ziggurat.commands {
      #expect(command.help.hasPrefix("usage: ziggurat \(command.name) "))
      for option in command.options {
        #expect(command.help.contains("--\(option.name) "))
        #expect(!option.help.isEmpty)
        #expect(option.environmentName.allSatisfy { $0.isUppercase || $0 == "_" })
      }
      #expect(Set(command.options.map(\.name)).count == command.options.count)
      #expect(command.help.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(command.help)")
    }
  }
}
