/// Scripts with which shells complete commands and options, generated from the commands' own lists.
enum Completions: String, CaseIterable {
  case bash, zsh, fish

  var script: String {
    switch self {
    case .bash: Self.forBash()
    case .zsh: Self.forZsh()
    case .fish: Self.forFish()
    }
  }

  private static let names = Ziggurat.commands.map { $0.name } + ["help"]

  private static func forBash() -> String {
    """
    _ziggurat() {
      local current=${COMP_WORDS[COMP_CWORD]} words=
      COMPREPLY=()
      if ((COMP_CWORD == 1)) || [[ $COMP_CWORD == 2 && ${COMP_WORDS[1]} == help ]]; then
        words='\(names.joined(separator: " ")) --version'
      elif [[ $current == -* ]]; then
        case ${COMP_WORDS[1]} in

    """
      + Ziggurat.commands.map { command in
        "      \(command.name)) words='\((command.visibleOptions.map { "--\($0.name)" } + ["--help"]).joined(separator: " "))' ;;\n"
      }.joined() + """
            esac
          fi
          # Nothing found: names of files, by readline.
          [[ -z $words ]] || mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
        }
        complete -o default -F _ziggurat ziggurat

        """
  }

  private static func forZsh() -> String {
    """
    #compdef ziggurat
    if ((CURRENT == 2)); then
      local -a commands=(

    """
      + Ziggurat.commands.map { "    \(quoted("\($0.name):\($0.summary)"))\n" }.joined() + """
          )
          _describe command commands
          return
        fi
        case $words[2] in

        """
      + Ziggurat.commands.map { command in
        "\(command.name))\n  shift words; ((CURRENT--))\n  _arguments \\\n"
          + command.visibleOptions.map { option in
            let text = option.help.replacing("[", with: "(").replacing("]", with: ")").replacing(
              ":", with: ",")
            let value = option.value.map { ":\($0.replacing(":", with: " ")):_files" } ?? ""
            let mark = option.value == nil || option.isValueOptional ? "" : "="
            return
              "    \(quoted("--\(option.name)\(mark)[\(text)]\(option.isValueOptional ? "" : value)")) \\\n"
          }.joined() + "    '*:file:_files' ;;\n"
      }.joined() + "esac\n"
  }

  private static func forFish() -> String {
    "complete -c ziggurat -n __fish_use_subcommand -f -a help -d 'a command'\\''s options'\n"
      + Ziggurat.commands.map { command in
        "complete -c ziggurat -n __fish_use_subcommand -f -a \(command.name) -d \(quoted(command.summary))\n"
          + command.visibleOptions.map { option in
            let value = option.value == nil || option.isValueOptional ? "" : " -r"
            return
              "complete -c ziggurat -n '__fish_seen_subcommand_from \(command.name)' -l \(option.name)\(value) "
              + "-d \(quoted(option.help))\n"
          }.joined()
      }.joined()
  }

  /// Returns a text as one quoted word for any shell.
  private static func quoted(_ text: String) -> String { "'" + text.replacing("'", with: "'\\''") + "'" }
}
