import Glibc

/// What could not be read or written, and why.
public struct StorageError: Error, Hashable, CustomStringConvertible {
  /// The verb and the file: `open paintings/night-watch.szi`.
  public let action: String
  public let reason: String
  /// The system's error number where it was the system that refused, else 0.
  public let code: Int32

  public init(_ action: String, _ reason: String, code: Int32 = 0) {
    self.action = action
    self.reason = reason
    self.code = code
  }

  /// A call that the system refused: its words and its number.
  public init(_ action: String, errno code: Int32) {
    self.init(action, String(cString: strerror(code)), code: code)
  }

  public var description: String { "cannot \(action): \(reason)" }

  /// Whether the same call may go through later: no space, no such device now.
  public var isTemporary: Bool {
    [ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, ESTALE, EFBIG].contains(code)
  }
}
