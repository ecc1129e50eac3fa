import Foundation
import HTTPMessages

@main
enum Ziggurat {
  static let version = "0.1.0"
  static var commands: [any Command.Type] {
    [
      BuildCommand.self, ServeCommand.self, TilesCommand.self, InspectCommand.self, VerifyCommand.self,
      ExportCommand.self, IndexCommand.self, PlanCommand.self, ReportCommand.self,
      CatalogCommand.self, SpaceCommand.self, ManCommand.self, CompletionsCommand.self,
    ]
  }

  static func main() {
    let words = Array(CommandLine.arguments.dropFirst())
    let environment = ProcessInfo.processInfo.environment
    ProcessArguments.hidePasswords()
    do {
      exit(try run(words, environment).number)
    } catch {
      Output.error(error.description)
      exit(ExitCode.usage.number)
    }
  }

  static func run(_ words: [String], _ environment: [String: String]) throws(UsageError) -> ExitCode {
    guard let first = words.first else {
      Output.note(overview)
      return .usage
    }
    let rest = Array(words.dropFirst())
    switch first {
    case "--version", "version":
      Output.result("ziggurat \(version)\n")
      return .success
    case "--help", "-h", "help":
      Output.result(try rest.first.map { (name) throws(UsageError) in try command(name).help } ?? overview)
      return .success
    default:
      let command = try command(first)
      if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
        Output.result(command.help)
        return .success
      }
      for line in misspelt(environment) { Output.note(line) }
      return try command.run(
        Arguments(rest, command: first, options: command.options, environment: environment))
    }
  }

  static func command(_ name: String) throws(UsageError) -> any Command.Type {
    if let command = commands.first(where: { $0.name == name }) { return command }
    let near = nearest(name, commands.map { $0.name }).map { "; did you mean '\($0)'?" }
    throw UsageError("unknown command '\(name)'" + (near ?? "; see 'ziggurat --help'"))
  }

  /// A line for each variable that begins as options' do and is none of them, of whatever command.
  static func misspelt(_ environment: [String: String]) -> [String] {
    let known = commands.flatMap { $0.options.map(\.environmentName) }
    return environment.keys.filter { $0.hasPrefix("ZIGGURAT_") && !known.contains($0) }.sorted().map {
      "the environment's \($0) is no option"
        + (nearest($0, known).map { "; did you mean \($0)?" } ?? " of any command")
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
