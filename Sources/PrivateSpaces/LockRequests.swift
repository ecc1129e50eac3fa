import Glibc
import Synchronization
import TileStorage
import ZigguratFiles

/// A watch for requests to lock a library's spaces. `isNew` reports requests since its creation or last call.
package final class LockRequests: Sendable {
  private let path: String
  private let seen: Mutex<FileIdentity?>

  init(path: String) {
    self.path = path
    seen = Mutex(Self.identity(path))
  }

  package func isNew() -> Bool {
    let now = Self.identity(path)
    return seen.withLock { seen in
      defer { seen = now }
      return seen != now && now != nil
    }
  }

  private static func identity(_ path: String) -> FileIdentity? {
    var status = stat()
    return stat(path, &status) == 0 ? FileIdentity(status) : nil
  }
}
