import Testing

@testable import ziggurat

/// Names of earlier releases, which work until 2.0.
@Suite struct DeprecatedOptionsTests {
  @Test
  func
    `each deprecated name sets the present option with one warning`()
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
          let arguments = ["--\(former.name)"] + (takesValue ? [value] : []) + others
          let suffix = (former.flagValue.map { "=\($0)" } ?? "") + " (the old name works until 2.0)"
          let given = try Arguments(arguments, command: command, environment: [:])
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

  @Test func `an option without effect is accepted with one warning`() throws {
    var count = 0
    for command in Ziggurat.commands {
      for option in command.options {
        guard let reason = option.removal else { continue }
        #expect(option.isHidden && !HelpTests.hasForbidden(reason) && reason.count <= 80, "\(reason)")
        for name in [option.name] + option.former.map(\.name) {
          count += 1
          let arguments = option.value == nil ? ["--\(name)"] : ["--\(name)", "any", "--\(name)=other"]
          let given = try Arguments(arguments, command: command, environment: [:])
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

  @Test func `a deprecated name is unique, and no option of its command`() {
    for command in Ziggurat.commands {
      let names = command.options.map(\.name)
      let former = command.options.flatMap { $0.former.map(\.name) }
      #expect(Set(names).isDisjoint(with: former))
      #expect(Set(former).count == former.count)
    }
    #expect(
      Set(Ziggurat.commands.map { $0.name }).isDisjoint(with: Ziggurat.commands.compactMap { $0.formerName }))
  }

  @Test func `the program warns once, and not together with a usage error`() throws {
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
