import Foundation
import Synchronization
import ZigguratCatalog
import ZigguratText

/// The output of the program, in whole lines: results go to stdout, everything else to stderr.
enum Output {
  /// Writes a result. If it cannot be written, the process ends with the exit code of an error for which a retry may
  /// succeed.
  static func result(_ text: String) {
    release()
    guard !write(text, to: STDOUT_FILENO) else { return }
    error("cannot write the result: " + String(cString: strerror(errno)))
    exit(ExitCode.temporary.number)
  }

  /// Writes one JSON object on a line of its own.
  static func json(_ object: JSONValue) {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings, numbers, flags and lists of them always encode.
    let data = try! encoder.encode(object)
    result(String(decoding: data, as: UTF8.self) + "\n")
  }

  /// Writes text to a terminal, without changes.
  static func terminal(_ text: String) {
    release()
    _ = write(text, to: STDERR_FILENO)
  }

  /// Returns a number with its noun: `1 tile`, `2 tiles`.
  static func count(_ number: Int, _ noun: String) -> String {
    "\(number) \(noun)" + (number == 1 ? "" : "s")
  }

  /// Returns a size such as `1.2 MB`, as file managers show it. Slow: it takes a tenth of a millisecond.
  static func size(ofBytes count: Int) -> String {
    ByteCountFormatter.string(fromByteCount: Int64(count), countStyle: .file)
  }

  /// Writes a line for people.
  static func note(_ line: String) {
    release()
    _ = write(line + "\n", to: STDERR_FILENO)
  }

  static func error(_ line: String) { note("ziggurat: " + oneLine(AddressSecrets.redacted(line))) }

  /// Lines that wait for the first output, so that a usage error can discard them.
  private static let held = Mutex<[String]>([])

  /// Holds a line for people back until something else is written.
  static func hold(_ line: String) { held.withLock { $0.append(oneLine(line)) } }

  /// Writes the lines that are held back.
  static func release() {
    let lines = held.withLock { lines in
      defer { lines = [] }
      return lines
    }
    for line in lines { _ = write(line + "\n", to: STDERR_FILENO) }
  }

  /// Discards the lines that are held back.
  static func discard() { held.withLock { $0 = [] } }

  /// Returns the text as one line without control. Names of files and entries may contain line feeds, control sequences
  /// of terminals, and characters that reverse the order of a line.
  static func oneLine(_ text: String) -> String {
    var line = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
      switch scalar.value {
      // The category Cc, for which the standard library's lookup is far slower.
      case ..<0x20, 0x7f...0x9f: line.append(" ")
      // Unicode Standard Annex #9, section 2.
      case 0x200e...0x200f, 0x202a...0x202e, 0x2066...0x2069:
        line.append(contentsOf: "\\u{\(String(scalar.value, radix: 16, uppercase: true))}".unicodeScalars)
      default: line.append(scalar)
      }
    }
    return String(line)
  }

  private static func write(_ text: String, to descriptor: Int32) -> Bool {
    var text = text
    return text.withUTF8 { bytes in
      var rest = UnsafeRawBufferPointer(bytes)[...]
      while !rest.isEmpty {
        let count = Foundation.write(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return false }
        rest = rest.dropFirst(count)
      }
      return true
    }
  }
}
