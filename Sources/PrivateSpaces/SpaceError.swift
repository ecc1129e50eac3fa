import TileStorage
package import ZigguratFiles

/// An error of opening, creating or changing a space.
package enum SpaceError: Error, Hashable, CustomStringConvertible {
  /// The password is wrong, or there is no such space, or no space at all. These cases cannot be distinguished.
  case noSpaceOpens
  /// The new password already opens a space.
  case passwordTaken
  /// The text cannot be a password.
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

  /// Whether the same call may succeed later.
  package var isTemporary: Bool {
    if case .storage(let error) = self { error.isTemporary } else { false }
  }
}
