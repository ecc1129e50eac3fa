import ZigguratCVips

/// An error of libvips or its callers, with the operation and the file.
package struct ImagingError: Error, Hashable, CustomStringConvertible {
  package let operation: String
  /// The file or the value that was being worked on.
  package let subject: String
  /// One line.
  package let message: String
  /// Whether the message is libvips' own, which users are never given alone (`DecoderMessage`).
  package let isOfLibrary: Bool

  package init(_ operation: String, _ subject: String, message: String) {
    self.init(operation, subject, message, isOfLibrary: false)
  }

  /// An error of opening a file.
  package init(opening path: String, _ message: String) { self.init("open", path, message: message) }

  private init(_ operation: String, _ subject: String, _ message: String, isOfLibrary: Bool) {
    self.operation = operation
    self.subject = subject
    self.message = message
    self.isOfLibrary = isOfLibrary
  }

  /// Returns the error with the name of another operation, known to users and to the table of messages.
  func said(of operation: String) -> ImagingError {
    ImagingError(operation, subject, message, isOfLibrary: isOfLibrary)
  }

  /// Returns the message for users who named the file.
  ///
  /// - Parameter path: the path of the file.
  package func reason(forFileAt path: String) -> String {
    guard isOfLibrary else { return message }
    return DecoderMessage.explained(
      message == Self.noReason ? nil : message, operation: operation, path: path)
  }

  private static let noReason = "libvips gave no reason"

  /// Takes libvips' error buffer, which is the process's: an error of another thread may come with it.
  static func take(_ operation: String, _ subject: String) -> ImagingError {
    let buffer = vips_error_buffer_copy()
    defer { g_free(buffer) }
    let lines = buffer.map { String(cString: $0) }?.split(separator: "\n").map(String.init) ?? []
    // The first line has the cause; later ones come from callers. Some loaders only warn.
    let logged = VipsLog.take()
    // Readers that look behind a file's end go on; it is the cause only if nothing else is said.
    let cause = lines.first { !$0.contains(": bad seek to ") } ?? lines.first
    return ImagingError(operation, subject, cause ?? logged ?? noReason, isOfLibrary: true)
  }

  package var description: String { "\(subject): \(message) (\(operation))" }
}
