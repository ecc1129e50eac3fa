import Foundation
import ZigguratText

@main
enum Ziggurat {
  static let version = "1.0.0"
  static var commands: [any Command.Type] {
    [
      BuildCommand.self, ServeCommand.self, TilesCommand.self, InspectCommand.self, VerifyCommand.self,
      ExportCommand.self, ReindexCommand.self, PlanCommand.self, ReportCommand.self,
      CatalogCommand.self, SpaceCommand.self, ManCommand.self, CompletionsCommand.self,
    ]
  }

  static func main() {
    let arguments = Array(CommandLine.arguments.dropFirst())
    let environment = ProcessInfo.processInfo.environment
    ProcessArguments.hidePasswords()
    do {
      let code = try run(arguments, environment)
      Output.release()
      exit(code.number)
    } catch {
      // Warnings about former names are not errors.
      Output.discard()
      for message in error.messages { Output.error(message) }
      exit(ExitCode.usage.number)
    }
  }

  static func run(_ arguments: [String], _ environment: [String: String]) throws(UsageError) -> ExitCode {
    guard let first = arguments.first else {
      Output.note(overview)
      return .usage
    }
    let rest = Array(arguments.dropFirst())
    switch first {
    case "--version", "version":
      Output.result("ziggurat \(version)\n")
      return .success
    case "--help", "-h", "help":
      let name = rest.first { !$0.hasPrefix("-") }
      Output.result(
        try name.map { (name) throws(UsageError) in
          Help.text(of: try command(name), listsAll: rest.contains("--all"))
        } ?? overview)
      return .success
    default:
      let command = try command(first)
      let options = rest.prefix { $0 != "--" }
      if options.contains(where: { $0 == "--help" || $0 == "-h" }) {
        Output.result(Help.text(of: command, listsAll: options.contains("--all")))
        return .success
      }
      for line in misspelt(environment) { Output.note(line) }
      let arguments = try Arguments(rest, command: command, environment: environment)
      for line in arguments.warnings { Output.hold(line) }
      return try command.run(arguments)
    }
  }

  /// Returns a command by its present or former name.
  static func command(_ name: String) throws(UsageError) -> any Command.Type {
    if let command = commands.first(where: { $0.name == name }) { return command }
    if let command = commands.first(where: { $0.formerName == name }) {
      Output.hold(Arguments.renamed("'\(name)'", "'\(command.name)'"))
      return command
    }
    throw .unknown("command", name, near: nearest(name, commands.map { $0.name }), help: "ziggurat --help")
  }

  /// Returns a line for each environment variable with the prefix of options that sets no option of any command.
  static func misspelt(_ environment: [String: String]) -> [String] {
    let options = commands.flatMap { $0.options }
    let known = options.filter { !$0.isHidden }.map(\.environmentName)
    let taken = Set(
      options.map(\.environmentName)
        + options.flatMap { $0.former.map { Option.environmentName($0.name) } })
    let prefix = "ZIGGURAT_"
    return environment.keys.filter { $0.hasPrefix(prefix) && !taken.contains($0) }.sorted().map {
      // Without the common prefix, by which any two would be similar.
      let near = nearest(String($0.dropFirst(prefix.count)), known.map { String($0.dropFirst(prefix.count)) })
      return "the environment variable \($0) sets no option"
        + (near.map { "; did you mean \(prefix)\($0)?" } ?? "")
    }
  }

  private static var overview: String {
    var text = "usage: ziggurat COMMAND …\n\nDeep-zoom tile pyramids: build, serve, ask.\n\ncommands:\n"
    for command in commands {
      text += "  ziggurat \(command.name) \(command.usage)\n      \(command.summary)\n"
    }
    return text + "\n'ziggurat help COMMAND' lists a command's options.\n"
  }
}
