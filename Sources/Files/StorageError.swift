import Glibc

/// A failed operation on a file, with its reason.
package struct StorageError: Error, Hashable, CustomStringConvertible {
  /// The verb and the file: `open paintings/night-watch.szi`.
  package let action: String
  package let reason: String
  /// The system's error number if the system refused, else 0.
  package let code: Int32
  /// The meaning of the error for the caller.
  package let kind: Kind

  /// The meaning of an error for the caller. A server responds with 404, 503 or 500.
  package enum Kind: Hashable, Sendable {
    /// The file does not exist.
    case notFound
    /// A retry may succeed: space, memory, the network or a device is missing at present.
    case unreachable
    /// The file exists but cannot be used: it is damaged, or access is denied.
    case unreadable

    /// - Parameter code: the system's error number; 0 if the system did not refuse.
    init(code: Int32) {
      switch code {
      case ENOENT, ENOTDIR: self = .notFound
      case ENOSPC, EDQUOT, EIO, ENOMEM, EMFILE, ENFILE, ESTALE, EFBIG, ETIMEDOUT, ECONNREFUSED, ECONNRESET,
        EHOSTDOWN, EHOSTUNREACH, ENETDOWN, ENETUNREACH, ENOTCONN:
        self = .unreachable
      default: self = .unreadable
      }
    }
  }

  package init(_ action: String, _ reason: String, code: Int32 = 0) {
    self.init(action, reason, code, Kind(code: code))
  }

  /// Creates an error that the system did not report.
  package init(_ action: String, _ reason: String, kind: Kind) { self.init(action, reason, 0, kind) }

  private init(_ action: String, _ reason: String, _ code: Int32, _ kind: Kind) {
    self.action = action
    self.reason = reason
    self.code = code
    self.kind = kind
  }

  /// Returns the error as the reason for which another action failed.
  package func during(_ action: String) -> StorageError { StorageError(action, reason, code, kind) }

  /// Creates an error from a system call, with the system's text and number.
  package init(_ action: String, errno code: Int32) {
    self.init(action, String(cString: strerror(code)), code: code)
  }

  /// Creates an error of creating a file or folder in a folder. A file system without inodes is not called full.
  package init(_ action: String, errno code: Int32, in folder: String) {
    var status = statvfs()
    let hasNoInodes =
      code == ENOSPC && statvfs(folder, &status) == 0 && status.f_files > 0 && status.f_favail == 0
      && status.f_bavail > 0
    guard hasNoInodes else {
      self.init(action, errno: code)
      return
    }
    self.init(action, Self.noInodes, code: code)
  }

  /// The reason if a file system has free bytes, but no inode for another file.
  package static let noInodes = "No inodes left on the file system, which has too many files"

  package var description: String { "cannot \(action): \(reason)" }

  /// Whether a file system has no room, or a quota or limit of file sizes is reached.
  package var isOfFullDisk: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

  /// Whether the permissions of a file or folder are the reason.
  package var isOfPermissions: Bool { [EACCES, EPERM].contains(code) }

  /// Whether a retry may succeed: space or a device is missing at present.
  package var isTemporary: Bool { kind == .unreachable }
}
