import Glibc
import ZigguratPrivateSpaces

/// The reason why no password was read.
enum PasswordFailure: Error {
  case space(SpaceError)
  case interrupted
  /// The error, in one line.
  case unreadable(String)
}

/// A prompt for passwords. It reads them from the terminal without echo, or as one line each from a file or from stdin.
/// It never reads them from the command line or the environment, which other processes can read.
struct PasswordPrompt {
  /// The option of commands that are about spaces alone.
  static let option = option(requires: nil)
  /// The option of commands that have `--space`.
  static let optionOfSpace = option(requires: "space")

  private static func option(requires required: String?) -> Option {
    Option(
      "password-file", "FILE", default: "ask on the terminal", requires: required,
      help: "File whose first line is the password of a private space; - is stdin")
  }

  /// The path, `-` for stdin, or nil for the terminal, if stdin is one.
  private let file: String?

  init(file: String?) { self.file = file ?? (isatty(STDIN_FILENO) == 1 ? nil : "-") }

  /// - Parameters:
  ///   - title: the prompt on the terminal: `Password`.
  ///   - isNew: whether it must be typed twice on a terminal.
  func password(_ title: String, isNew: Bool = false) throws(PasswordFailure) -> Password {
    guard let file else { return try ask(title, isNew: isNew) }
    if file == "-" { return try line(of: STDIN_FILENO, "stdin") }
    let descriptor = open(file, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else {
      throw .unreadable("cannot open \(file): \(String(cString: strerror(errno)))")
    }
    defer { close(descriptor) }
    return try line(of: descriptor, file)
  }

  private func ask(_ title: String, isNew: Bool) throws(PasswordFailure) -> Password {
    let terminal = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY)
    guard terminal >= 0 else { throw .unreadable("there is no terminal to ask on; use --password-file") }
    defer { close(terminal) }
    var settings = termios()
    guard tcgetattr(terminal, &settings) == 0 else {
      throw .unreadable("the terminal cannot be kept from showing a password; use --password-file")
    }
    var silent = settings
    silent.c_lflag &= ~tcflag_t(ECHO)
    // An interruption ends the wait below, and the echo is restored.
    SignalHandler.listen()
    tcsetattr(terminal, TCSAFLUSH, &silent)
    defer { tcsetattr(terminal, TCSAFLUSH, &settings) }
    let first = try line(of: terminal, "the terminal", after: title)
    guard isNew else { return first }
    let second = try line(of: terminal, "the terminal", after: "Once more")
    guard first == second else { throw .unreadable("the two passwords differ") }
    return first
  }

  /// Reads one line, and no byte behind it.
  private func line(
    of descriptor: Int32, _ name: String, after title: String? = nil
  ) throws(PasswordFailure) -> Password {
    if let title { write(title + ": ", descriptor) }
    defer { if title != nil { write("\n", descriptor) } }
    var failure: PasswordFailure?
    do {
      return try Password { (room) throws(SpaceError) in
        var count = 0
        while count < room.count {
          if title != nil, !SignalHandler.waitForInput(descriptor) {
            failure = .interrupted
            break
          }
          let got = read(descriptor, room.baseAddress! + count, 1)
          if got < 0, errno == EINTR { continue }
          if got < 0 { failure = .unreadable("cannot read \(name): \(String(cString: strerror(errno)))") }
          guard got == 1 else { break }
          count += 1
          if room[count - 1] == UInt8(ascii: "\n") { break }
        }
        return count
      }
    } catch { throw failure ?? .space(error) }
  }

  private func write(_ text: String, _ descriptor: Int32) {
    var text = text
    text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
  }
}
