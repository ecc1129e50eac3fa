/// Pages for `man`, made of the commands' own words: no option can be missing in them.
enum ManualPage {
  /// `ziggurat(1)`.
  static func overview() -> String {
    head("ziggurat", "deep\\-zoom tile pyramids: build, serve, ask")
      + ".SH SYNOPSIS\n.B ziggurat\n.I COMMAND\n\\&...\n.SH COMMANDS\n"
      + Ziggurat.commands.map { command in
        ".TP\n.BR ziggurat\\-\(escaped(command.name)) (1)\n\(line(command.summary))\n"
      }.joined()
      + environment + exitCodes
  }

  /// `ziggurat-build(1)` and the like.
  static func page(of command: any Command.Type) -> String {
    head("ziggurat\\-\(escaped(command.name))", line(command.summary))
      + ".SH SYNOPSIS\n.B ziggurat \(escaped(command.name))\n\(line(command.usage))\n[\\fIoptions\\fR]\n"
      + ".SH DESCRIPTION\n\(line(command.summary))\n"
      + (command.options.isEmpty ? "" : ".SH OPTIONS\n")
      + command.options.map { option in
        let value = option.value.map { option.isValueOptional ? " [=\($0)]" : " \($0)" } ?? ""
        return ".TP\n\\fB\\-\\-\(escaped(option.name))\\fR\(escaped(value))\n\(line(option.help))\n"
      }.joined()
      + environment + exitCodes + ".SH SEE ALSO\n.BR ziggurat (1)\n"
  }

  private static func head(_ name: String, _ summary: String) -> String {
    let title = name.replacing("\\", with: "").uppercased()
    return ".TH \(title) 1 \"\" \"ziggurat \(Ziggurat.version)\"\n.SH NAME\n\(name) \\- \(summary)\n"
  }

  private static let environment = """
    .SH ENVIRONMENT
    Each option can also be set as \\fBZIGGURAT_\\fIOPTION\\fR, in capitals and with underscores; the command line wins.

    """
  private static let exitCodes = """
    .SH EXIT STATUS
    .IP 0
    All done.
    .IP 1
    Some inputs failed, each told in one line; the rest is done.
    .IP 2
    Wrong usage.
    .IP 75
    A fault that a retry may mend: the disk is full, the storage is away.
    .IP 130
    Interrupted.

    """

  /// Text that begins a line, where a dot or quote would make it a request of troff.
  private static func line(_ text: String) -> String {
    (text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" : "") + escaped(text)
  }

  private static func escaped(_ text: String) -> String {
    text.replacing("\\", with: "\\e").replacing("-", with: "\\-")
  }
}
