/// Pages for `man`, generated from the commands' own options, so that none can be missing.
enum ManualPage {
  /// Returns the page `ziggurat(1)`.
  static func overview() -> String {
    head("ziggurat", "deep\\-zoom tile pyramids: build, serve, ask")
      + ".SH SYNOPSIS\n.B ziggurat\n.I COMMAND\n\\&...\n.SH COMMANDS\n"
      + Ziggurat.commands.map { command in
        ".TP\n.BR ziggurat\\-\(escaped(command.name)) (1)\n\(line(command.summary))\n"
      }.joined()
      + environment + exitCodes
  }

  /// Returns the page of a command, such as `ziggurat-build(1)`.
  static func page(of command: any Command.Type) -> String {
    head("ziggurat\\-\(escaped(command.name))", line(command.summary))
      + ".SH SYNOPSIS\n.B ziggurat \(escaped(command.name))\n\(line(command.usage))\n[\\fIoptions\\fR]\n"
      + ".SH DESCRIPTION\n\(line(command.summary))\n"
      + sections(of: command.visibleOptions)
      + environment + exitCodes + ".SH SEE ALSO\n.BR ziggurat (1)\n"
  }

  /// Returns a section with a part for each group, the common options first.
  private static func sections(of options: [Option]) -> String {
    let groups = Option.Group.allCases.map { group in options.filter { $0.group == group } }
      .filter { !$0.isEmpty }
    let parts = groups.map { group in
      (groups.count > 1 ? ".SS \(group[0].group.rawValue)\n" : "")
        + (group.filter(\.isCommon) + group.filter { !$0.isCommon }).map(entry).joined()
    }
    let quantities = options.contains { $0.unit != nil } ? ".PP\n\(line(Help.quantities))\n" : ""
    return options.isEmpty ? "" : ".SH OPTIONS\n" + parts.joined() + quantities
  }

  private static func entry(_ option: Option) -> String {
    let value = option.value.map { option.isValueOptional ? " [=\($0)]" : " \($0)" } ?? ""
    return ".TP\n\\fB\\-\\-\(escaped(option.name))\\fR\(escaped(value))\n\(line(option.help))\n"
  }

  private static func head(_ name: String, _ summary: String) -> String {
    let title = name.replacing("\\", with: "").uppercased()
    return ".TH \(title) 1 \"\" \"ziggurat \(Ziggurat.version)\"\n.SH NAME\n\(name) \\- \(summary)\n"
  }

  private static let environment = """
    .SH ENVIRONMENT
    Each option can also be set as \\fBZIGGURAT_\\fIOPTION\\fR, in capitals and with underscores. The command line wins over
    the environment, and the environment over the file of \\fB\\-\\-config\\fR.

    """
  private static let exitCodes = """
    .SH EXIT STATUS
    .IP 0
    All done.
    .IP 1
    Some inputs failed, each reported in one line; the rest is done.
    .IP 2
    Wrong usage.
    .IP 75
    An error that a retry may resolve: the disk is full, the storage is unreachable.
    .IP 130
    Interrupted.

    """

  /// Returns text for the start of a line, where a dot or quote would make it a request of troff.
  private static func line(_ text: String) -> String {
    (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + escaped(text)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  }
}
