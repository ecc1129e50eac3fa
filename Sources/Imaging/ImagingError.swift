import CVips

/// What libvips refused: its own words, with the operation and the file they are about.
package struct ImagingError: Error, Hashable, CustomStringConvertible {
  package let operation: String
  /// The file or the value that was being worked on.
  package let subject: String
  /// libvips' message, on one line, without its "VipsForeignLoad:" style prefixes.
  package let message: String

  package init(_ operation: String, _ subject: String, message: String) {
    self.operation = operation
    self.subject = subject
    self.message = message
  }

  /// Takes libvips' error buffer, which is the process's: an error of another thread may come with it.
  static func take(_ operation: String, _ subject: String) -> ImagingError {
    let buffer = vips_error_buffer_copy()
    defer { g_free(buffer) }
    let lines = buffer.map { String(cString: $0) }?.split(separator: "\n").map(String.init) ?? []
    // The first line names the cause, the later ones who passed it on. Some loaders only warn.
    let logged = VipsLog.take()
    let message = lines.first ?? logged ?? "libvips gave no reason"
    return ImagingError(operation, subject, message: message)
  }

  package var description: String { "\(subject): \(message) (\(operation))" }
}
