import Foundation

/// A file of options: one `NAME = VALUE` a line, without the dashes. Lines that begin with `#` are comments.
struct ConfigFile {
  struct Setting {
    let name: String
    let value: String
    /// The line and the file, for messages.
    let place: String
  }

  private(set) var settings: [Setting] = []
  /// An error for each line that is not a setting.
  private(set) var errors: [UsageError] = []

  static let option = Option(
    "config", "FILE", isCommon: true,
    help: "Read options from FILE, one NAME = VALUE a line; # begins a comment")
  /// The maximum size of the file in bytes. Options need far less; a larger file is another one.
  private static let maximum = 1 << 20

  init(path: String) throws(UsageError) {
    guard let file = fopen(path, "re") else { throw .cannot("read \(path)", Self.reason(errno)) }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: Self.maximum + 1)
    let count = fread(&bytes, 1, bytes.count, file)
    guard ferror(file) == 0 else { throw .cannot("read \(path)", Self.reason(errno)) }
    guard count <= Self.maximum else { throw .cannot("read \(path)", "larger than 1MB") }
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    for (number, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
      .enumerated()
    {
      let line = line.trimmingPrefix("\u{feff}").trimmingCharacters(in: .whitespaces)
      if line.isEmpty || line.hasPrefix("#") { continue }
      let place = "line \(number + 1) of \(path)"
      let parts = line.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map {
        $0.trimmingCharacters(in: .whitespaces)
      }
      guard !parts[0].isEmpty, parts.count == 2 || !parts[0].contains(" ") else {
        errors.append(.invalidLine(at: place))
        continue
      }
      // A name alone is a flag.
      settings.append(Setting(name: parts[0], value: parts.count == 2 ? parts[1] : "true", place: place))
    }
  }

  private static func reason(_ code: Int32) -> String { String(cString: strerror(code)).lowercased() }
}
