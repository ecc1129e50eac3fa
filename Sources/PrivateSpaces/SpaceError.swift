import TileStorage
package import ZigguratFiles

/// Why a space was not opened, made or changed.
package enum SpaceError: Error, Hashable, CustomStringConvertible {
  /// A wrong password, no such space, or no space at all: which of them cannot be told.
  case noSpaceOpens
  /// For a new password: it opens a space already.
  case passwordTaken
  /// It cannot be a password at all.
  case unusablePassword(String)
  case storage(StorageError)

  package var description: String {
    switch self {
    case .noSpaceOpens: "no space opens with this password"
    case .passwordTaken: "this password opens a space already; choose another"
    case .unusablePassword(let reason): "the password cannot be used: \(reason)"
    case .storage(let error): error.description
    }
  }

  /// Whether the same call may go through later.
  package var isTemporary: Bool {
    if case .storage(let error) = self { error.isTemporary } else { false }
  }
}
