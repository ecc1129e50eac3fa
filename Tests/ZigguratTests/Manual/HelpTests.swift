import Foundation
import Testing

@testable import ziggurat

/// The rules of help and messages, checked in the tables that they are made from.
@Suite struct HelpTests {
  /// Terms that the project's glossary replaces, and phrases of earlier messages.
  private static let forbidden = try! NSRegularExpression(
    pattern:
      #"\b(cells?|nursery|words?|tells?|told|strangers?|hostile|faults?|mends?|anew|patience|twins?|doors?"#
      + #"|guess(es)?|pictures?|go(es)? together|has no meaning|it takes|are none|is none|no such thing|who)\b"#,
    options: .caseInsensitive)

  static func hasForbidden(_ text: String) -> Bool {
    forbidden.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
  }

  private static let allOptions = Ziggurat.commands.flatMap { command in
    command.options.filter { $0.removal == nil }.map { (command.name, $0) }
  }

  @Test func `each message has a valid form, one line, and no forbidden word`() throws {
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
      path: "../../../Sources/ziggurat")
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

  @Test func `no help, completion or manual page shows a deprecated name or hidden option`() {
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
