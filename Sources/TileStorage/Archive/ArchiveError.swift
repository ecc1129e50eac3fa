import Glibc
package import ZigguratFiles

/// An error of reading or writing an archive.
///
/// Programs choose their reaction by `kind` and show `description`. No function of this module traps on a wrong
/// argument.
public struct ArchiveError: Error, Hashable, CustomStringConvertible {
  /// A class of errors to which a program reacts in the same way.
  @nonexhaustive
  public enum Kind: Hashable, Sendable {
    /// An argument is outside its documented range. The archive is unchanged.
    case invalidArgument
    /// The file, or the folder that was to contain it, does not exist.
    case notFound
    /// The system denies access, or the file system is read-only.
    case accessDenied
    /// The file is not an archive, its directory is damaged, or a tile is missing, truncated or altered.
    case damaged
    /// The disk or the quota is full.
    case diskFull
    /// Memory, file descriptors or the storage itself are unavailable at present. A retry may succeed.
    case unavailable
    /// The system refused for another reason; `description` states it.
    case other
  }

  /// The class of the error.
  public let kind: Kind
  /// The action that failed, its file and the reason, in one line: `cannot open photo.szi: No such file or directory`.
  public let description: String

  package init(_ error: StorageError) {
    description = error.description
    kind =
      if error.isOfFullDisk {
        .diskFull
      } else if error.isOfPermissions || error.code == EROFS {
        .accessDenied
      } else {
        switch error.kind {
        case .notFound: .notFound
        case .unreachable: .unavailable
        case .unreadable: error.code == 0 ? .damaged : .other
        }
      }
  }

  /// - Parameters:
  ///   - action: a verb with its object, such as `write photo.szi`.
  ///   - reason: the defect of the argument, in a clause.
  package init(invalidArgument reason: String, to action: String) {
    kind = .invalidArgument
    description = "cannot \(action): \(reason)"
  }
}
