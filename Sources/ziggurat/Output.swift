import Glibc

/// Results go to stdout, everything else to stderr, whole lines at a time.
enum Output {
  static func result(_ text: String) { write(text, to: STDOUT_FILENO) }

  /// A line for people.
  static func note(_ line: String) { write(line + "\n", to: STDERR_FILENO) }

  static func error(_ line: String) { note("ziggurat: " + line.replacing("\n", with: " ")) }

  private static func write(_ text: String, to descriptor: Int32) {
    var text = text
    text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)[...]
      while !rest.isEmpty {
        let count = Glibc.write(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return }
        rest = rest.dropFirst(count)
      }
    }
  }
}
