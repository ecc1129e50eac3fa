import Glibc

/// What could not be read or written, and why.
package struct StorageError: Error, Hashable, CustomStringConvertible {
  /// The verb and the file: `open paintings/night-watch.szi`.
  package let action: String
  package let reason: String
  /// The system's error number where it was the system that refused, else 0.
  package let code: Int32
  /// What it means for who asks for the file.
  package let kind: Kind

  /// What an error means for who asks for the file: who serves it answers 404, 503 or 500.
  package enum Kind: Hashable, Sendable {
    /// There is nothing of that name.
    case notThere
    /// The same may go through later: there is no space, no memory, no network, no such device now.
    case unreachable
    /// It is there and cannot be used: damaged, or withheld.
    case unreadable

    /// - Parameter code: of the system; 0 where it was not the system that refused.
    init(code: Int32) {
      switch code {
      case ENOENT, ENOTDIR: self = .notThere
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

  /// What was not the system's refusal.
  package init(_ action: String, _ reason: String, kind: Kind) { self.init(action, reason, 0, kind) }

  private init(_ action: String, _ reason: String, _ code: Int32, _ kind: Kind) {
    self.action = action
    self.reason = reason
    self.code = code
    self.kind = kind
  }

  /// The same, told of another action that failed by it.
  package func during(_ action: String) -> StorageError { StorageError(action, reason, code, kind) }

  /// A call that the system refused: its words and its number.
  package init(_ action: String, errno code: Int32) {
    self.init(action, String(cString: strerror(code)), code: code)
  }

  /// A file or folder that the system refused to make in a folder. A file system without inodes is not called full.
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

  /// The reason if a file system has room for bytes, and none for another file.
  package static let noInodes = "No inodes left on the file system, which has too many files"

  package var description: String { "cannot \(action): \(reason)" }

  /// Whether a file system has no room, or a quota or limit of file sizes is reached.
  package var isOfFullDisk: Bool { [ENOSPC, EDQUOT, EFBIG].contains(code) }

  /// Whether the permissions of a file or folder are the reason.
  package var isOfPermissions: Bool { [EACCES, EPERM].contains(code) }

  /// Whether the same call may go through later: no space, no such device now.
  package var isTemporary: Bool { kind == .unreachable }
}
