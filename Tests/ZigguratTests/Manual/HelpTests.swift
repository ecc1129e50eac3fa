import Foundation
import Testing

@testable import ziggurat

/// The rules of help and messages, checked in the tables that they are made from.
@Suite struct HelpTests {
  /// Words that the project's glossary replaces, and phrases of earlier messages.
  private static let forbidden = try! NSRegularExpression(
    pattern:
      #"\b(cells?|nursery|words?|tells?|told|strangers?|hostile|faults?|mends?|anew|patience|twins?|doors?"#
      + #"|guess(es)?|pictures?|go(es)? together|has no meaning|it takes|are none|is none|no such thing|who)\b"#,
    options: .caseInsensitive)

  fileprivate static func hasForbidden(_ text: String) -> Bool {
    forbidden.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }

  private static let allOptions = Ziggurat.commands.flatMap { command in
    command.options.filter { $0.removal == nil }.map { (command.name, $0) }
  }

  @Test func `each message has one of the forms, a line, and no forbidden word`() throws {
    let form = try Regex(
      #"(invalid value|missing|unexpected|unknown|cannot) .+|\{0\} (cannot|requires|does not) .+|\{0\}: \{1\}"#
    )
    for message in UsageMessage.allCases {
      let text = message.rawValue
      #expect(try form.wholeMatch(in: text) != nil, "\(text)")
      #expect(text.count <= 70 && !text.hasSuffix(".") && !text.contains("\n"), "\(text)")
      #expect(!Self.hasForbidden(text), "\(text)")
      let parts = Set(text.matches(of: /\{(\d)\}/).map { Int($0.1)! })
      #expect(parts == Set(0..<parts.count), "\(text)")
      #expect(message.text(["<a>", "{1}", "<c>"]).contains("<a>"))
    }
    #expect(UsageMessage.conflict.text(["{1}", "{0}"]) == "{1} cannot be used with {0}")
  }

  /// The parts of messages, which stand where they are thrown.
  @Test func `no part of a message has a forbidden word`() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appending(
      path: "../../Sources/ziggurat")
    let files = try #require(FileManager.default.enumerator(atPath: folder.path)).compactMap { $0 as? String }
    let thrown =
      /(?:expected: |\.conflict\(|\.requires\(|\.cannot\(|\.missing\(|\.invalid\()((?:[^"()]|\([^()]*\))*"(?:[^"\\]|\\.)*"(?:,\s*"(?:[^"\\]|\\.)*")?)/
    var count = 0
    for file in files where file.hasSuffix(".swift") {
      let text = try String(contentsOf: folder.appending(path: file), encoding: .utf8)
      for part in text.matches(of: thrown) {
        count += 1
        // Without names of Swift.
        let text = part.1.replacing(/\\\([^()]*(\([^()]*\))*[^()]*\)/, with: "x")
        #expect(!Self.hasForbidden(String(text)), "\(file): \(part.1)")
        #expect(part.1.count <= 160, "\(file): \(part.1)")
      }
    }
    #expect(count > 60, "\(count)")
  }

  @Test func `each option's text begins with a noun or a verb and is short`() {
    for (command, option) in Self.allOptions {
      let text = option.help
      #expect(text.first?.isUppercase == true && !text.hasSuffix("."), "\(command) --\(option.name): \(text)")
      #expect(text.count <= 120 && !text.contains("\n"), "\(command) --\(option.name): \(text)")
      #expect(!Self.hasForbidden(text), "\(command) --\(option.name): \(text)")
      let first = text.prefix { $0 != " " }
      #expect(
        !["What", "Who", "Whose", "Of", "Where", "How", "Which", "The", "A"].contains(first), "\(text)")
      #expect(option.environmentName.allSatisfy { $0.isUppercase || $0 == "_" })
    }
    for command in Ziggurat.commands {
      #expect(command.summary.hasSuffix(".") && command.summary.count <= 100, "\(command.summary)")
      #expect(!Self.hasForbidden(command.summary), "\(command.summary)")
    }
  }

  @Test func `help lists every option, in lines of 100 columns`() {
    for command in Ziggurat.commands {
      let all = Help.text(of: command, listsAll: true)
      #expect(all.hasPrefix("usage: ziggurat \(command.name) "))
      for option in command.options {
        #expect(all.contains("\n  --\(option.name) ") == !option.isHidden, "\(option.name)")
      }
      #expect(Set(command.options.map(\.name)).count == command.options.count)
      let lines = all.split(separator: "\n").filter { $0.hasPrefix(" ") }
      #expect(lines.allSatisfy { $0.count <= 100 && !$0.hasSuffix("  ") }, "\(all)")
    }
  }

  @Test(arguments: ["serve", "build"])
  func `the short help lists the common options and names the long one`(name: String) throws {
    let command = try Ziggurat.command(name)
    let text = Help.text(of: command)
    let common = command.options.filter(\.isCommon)
    #expect((10...16).contains(common.count))
    for option in command.options {
      #expect(text.contains("\n  --\(option.name) ") == option.isCommon, "\(option.name)")
    }
    #expect(text.contains("'ziggurat help \(name) --all' lists all \(command.visibleOptions.count) options."))
  }

  @Test func `no help, completion or manual page shows a former name or a hidden option`() {
    for command in Ziggurat.commands {
      let page = ManualPage.page(of: command).replacing("\\-", with: "-")
      let texts = [Help.text(of: command, listsAll: true), page] + Completions.allCases.map(\.script)
      for option in command.options {
        for name in option.former.map(\.name) + (option.isHidden ? [option.name] : []) {
          // A name of one command may be a former name of another.
          if Self.allOptions.contains(where: { $0.1.name == name && !$0.1.isHidden }) { continue }
          for text in texts {
            #expect(
              !text.contains("--\(name) ") && !text.contains("--\(name)=") && !text.contains("-l \(name) "),
              "\(name)")
          }
        }
      }
    }
  }
}

/// Names of earlier releases, which work until 2.0.
@Suite struct DeprecatedOptionsTests {
  @Test
  func
    `each former name sets the present option, with one warning, on the command line and in the environment`()
    throws
  {
    var count = 0
    for command in Ziggurat.commands {
      for option in command.options {
        guard option.removal == nil else { continue }
        for former in option.former {
          count += 1
          let isFlag = option.value == nil || former.flagValue != nil
          let value = former.values?.keys.sorted().first ?? (isFlag ? "true" : "value")
          let present = former.values?[value] ?? former.flagValue ?? value
          let takesValue = !isFlag || former.values != nil
          let others = command.options.filter { $0.name == option.required }
            .flatMap { $0.value == nil ? ["--\($0.name)"] : ["--\($0.name)", "x"] }
          let words = ["--\(former.name)"] + (takesValue ? [value] : []) + others
          let suffix = (former.flagValue.map { "=\($0)" } ?? "") + " (the old name works until 2.0)"
          let given = try Arguments(words, command: command, environment: [:])
          #expect(given.string(option.name) == present)
          #expect(given.warnings == ["--\(former.name) is now called --\(option.name)\(suffix)"])
          let variable = Option.environmentName(former.name)
          let set = try Arguments([], command: command, environment: [variable: value])
          #expect(set.string(option.name) == present)
          #expect(set.warnings == ["\(variable) is now called \(option.environmentName)\(suffix)"])
          #expect(Ziggurat.misspelt([variable: value]) == [])
        }
      }
    }
    #expect(count >= 28)
  }

  @Test func `an option that has no effect any more is accepted with one warning`() throws {
    var count = 0
    for command in Ziggurat.commands {
      for option in command.options {
        guard let reason = option.removal else { continue }
        #expect(option.isHidden && !HelpTests.hasForbidden(reason) && reason.count <= 80, "\(reason)")
        for name in [option.name] + option.former.map(\.name) {
          count += 1
          let words = option.value == nil ? ["--\(name)"] : ["--\(name)", "any", "--\(name)=other"]
          let given = try Arguments(words, command: command, environment: [:])
          #expect(given.string(option.name) == nil)
          #expect(given.warnings == ["--\(name) has no effect any more: \(reason)"])
          let variable = Option.environmentName(name)
          let set = try Arguments([], command: command, environment: [variable: "any"])
          #expect(set.string(option.name) == nil)
          #expect(set.warnings == ["\(variable) has no effect any more: \(reason)"])
          #expect(Ziggurat.misspelt([variable: "any"]) == [])
        }
      }
    }
    #expect(count >= 9)
  }

  @Test func `a former name is no option of its command, and no other's former name`() {
    for command in Ziggurat.commands {
      let names = command.options.map(\.name)
      let former = command.options.flatMap { $0.former.map(\.name) }
      #expect(Set(names).isDisjoint(with: former))
      #expect(Set(former).count == former.count)
    }
    #expect(
      Set(Ziggurat.commands.map { $0.name }).isDisjoint(with: Ziggurat.commands.compactMap { $0.formerName }))
  }

  @Test func `the program warns once, and not besides an error of usage`() throws {
    let warned = try Program.run(["index", "/nowhere"])
    #expect(warned.code == 1)
    #expect(
      warned.error.hasPrefix("'index' is now called 'reindex' (the old name works until 2.0)\n"),
      "\(warned.error)")
    #expect(warned.error.split(separator: "\n").filter { $0.contains("is now called") }.count == 1)
    let silent = try Program.run(["reindex", "/nowhere"])
    #expect((silent.code, silent.output) == (warned.code, warned.output))
    #expect(!silent.error.contains("is now called"))
    let wrong = try Program.run(["index"])
    #expect(wrong.code == 2)
    #expect(
      wrong.error == "ziggurat: missing library folder (usage: ziggurat reindex DIR|s3://BUCKET/PREFIX)\n")
    let option = try Program.run(["serve", "/nowhere", "--max-header", "0"])
    #expect(
      option.error
        == "ziggurat: invalid value '0' for --max-header (expected 2KB to 1MB, or a plain number of KB)\n")
    let both = try Program.run(
      ["inspect", "--linear", "/nowhere.png"], environment: ["ZIGGURAT_CACHE_MEMORY=1"])
    #expect(
      both.error.split(separator: "\n").filter { $0.contains("is now called") } == [
        "--linear is now called --downsample=linear (the old name works until 2.0)"
      ])
    let help = try Program.run(["help", "index"])
    #expect((help.code, help.output) == (0, try Program.run(["help", "reindex"]).output))
  }
}
