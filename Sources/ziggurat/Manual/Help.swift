/// The text of `ziggurat help COMMAND`, generated from the command's options.
enum Help {
  private static let width = 100
  /// The column at which an option's text begins.
  private static let column = 30
  /// The number of options above which only the common ones are listed, unless all are requested.
  private static let maximum = 20

  /// - Parameter listsAll: whether rarely needed options are listed, too.
  static func text(of command: any Command.Type, listsAll: Bool = false) -> String {
    let options = command.visibleOptions
    var text = "usage: ziggurat \(command.name) \(command.usage)\n\n\(command.summary)\n"
    if options.isEmpty { return text }
    let common = options.filter(\.isCommon)
    if options.count <= maximum {
      text += "\noptions:\n" + options.map(entry).joined()
    } else if !listsAll {
      text += "\ncommon options:\n" + common.map(entry).joined()
      text += "\n'ziggurat help \(command.name) --all' lists all \(options.count) options.\n"
    } else {
      for group in Option.Group.allCases {
        let members = options.filter { $0.group == group }
        if members.isEmpty { continue }
        let sorted = members.filter(\.isCommon) + members.filter { !$0.isCommon }
        text += "\n\(group.rawValue):\n" + sorted.map(entry).joined()
      }
    }
    text += "\nEvery option can also be set in the environment, as ZIGGURAT_<OPTION>"
    text += options.contains { $0.name == "config" } ? ",\nor in a file (--config).\n" : ".\n"
    if options.contains(where: { $0.unit != nil }) { text += quantities + "\n" }
    return text
  }

  /// The form of values with units.
  static let quantities =
    "Values may have a unit: sizes 512KB, 64MB, 4GB; times 30s, 15m, 12h, 7d; pixels 50MP."

  /// Returns the lines of one option.
  private static func entry(_ option: Option) -> String {
    let head = "  " + option.head
    let indent = String(repeating: " ", count: column)
    // At least two spaces separate an option and its text.
    var text = head.count + 2 <= column ? head + indent.dropFirst(head.count) : head + "\n" + indent
    var length = column
    for word in option.help.split(separator: " ") {
      if length > column, length + 1 + word.count > width {
        text += "\n" + indent
        length = column
      }
      text += (length > column ? " " : "") + word
      length += word.count + (length > column ? 1 : 0)
    }
    return text + "\n"
  }
}

extension Command {
  /// The options that help, completions and manual pages show.
  static var visibleOptions: [Option] { options.filter { !$0.isHidden } }
}
