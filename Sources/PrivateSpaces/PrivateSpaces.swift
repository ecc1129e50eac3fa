import Glibc
import TileStorage
import ZigguratFiles

/// The private spaces of a library, which share a folder and a keyring.
///
/// A wrong password and a library without spaces cannot be distinguished: both give the same error after the same work.
package struct PrivateSpaces: Sendable {
  private let folder: SpaceFolder

  /// - Parameter library: the library's folder.
  package init(library: String) { folder = SpaceFolder(library: library) }

  /// Whether the library has the folder that spaces share, even if it has no spaces any more.
  package var mayExist: Bool { access(folder.path, F_OK) == 0 }

  /// Opens the space of a password. Takes a quarter of a gigabyte and about half a second.
  package func open(_ password: Password) throws(SpaceError) -> PrivateSpace {
    do throws(StorageError) {
      let keyring = try read() ?? .absent
      let spaceKey = try Self.spaceKey(keyring, try key(password, keyring))
      return try PrivateSpace(folder: folder, keys: SpaceKeys(spaceKey: spaceKey))
    } catch { throw Self.spaceError(error) }
  }

  /// Creates a new, empty space, and the library's folder for spaces if it is the first.
  package func create(_ password: Password) throws(SpaceError) {
    do throws(StorageError) {
      CoreDumps.forbid()
      try folder.make()
      try folder.locked { () throws(StorageError) in
        var keyring = try readWhole() ?? Keyring()
        let passwordKey = try key(password, keyring)
        guard keyring.spaceKey(passwordKey) == nil else { throw Self.taken }
        let spaceKey = LockedBytes.random(KeyDerivation.keyCount)
        let keys = SpaceKeys(spaceKey: spaceKey)
        let files = IndexFiles(folder: folder, keys: keys)
        try files.cover()
        // If the process is killed in between, an index is left that no key opens.
        _ = try files.write(SpaceIndex())
        keyring.put(spaceKey, under: passwordKey)
        try write(keyring)
      }
    } catch { throw Self.spaceError(error) }
  }

  /// Encrypts the space's key with another password. The pictures stay as they are.
  package func changePassword(_ old: Password, to new: Password) throws(SpaceError) {
    do throws(StorageError) {
      CoreDumps.forbid()
      // Without the folder there is nothing to lock. The work is the same.
      guard var keyring = try read() else {
        let absent = Keyring.absent
        _ = absent.spaceKey(try key(old, absent))
        throw Self.refused
      }
      let oldKey = try key(old, keyring)
      _ = try Self.spaceKey(keyring, oldKey)
      let newKey = try key(new, keyring)
      try folder.locked { () throws(StorageError) in
        let derivation = keyring.derivation
        guard let current = try readWhole(), current.derivation == derivation,
          let found = current.spaceKey(oldKey)
        else { throw Self.refused }
        guard current.spaceKey(newKey) == nil else { throw Self.taken }
        // The next key is encrypted with the old password. An unreadable index does not prevent a new password.
        let space = try? PrivateSpace(folder: folder, keys: SpaceKeys(spaceKey: found.key))
        guard try space?.index().nextKey == nil else {
          throw StorageError(
            "change the password",
            "a change of the space's key is not finished; run 'space rekey' again first")
        }
        keyring = current
        keyring.put(found.key, under: newKey, slots: found.slots)
        try write(keyring)
      }
    } catch { throw Self.spaceError(error) }
  }

  /// Starts to change the key of a password's space, or continues that. The password stays the same.
  package func rekey(_ password: Password) throws(SpaceError) -> SpaceRekey {
    do throws(StorageError) {
      CoreDumps.forbid()
      let keyring = try read() ?? .absent
      let passwordKey = try key(password, keyring)
      let spaceKey = try Self.spaceKey(keyring, passwordKey)
      return try SpaceRekey(self, folder, spaceKey: spaceKey, passwordKey: passwordKey)
    } catch { throw Self.spaceError(error) }
  }

  /// Replaces a space's key in the keyring. Called while no other process can change the folder.
  func replaceKey(
    _ old: LockedBytes, by new: LockedBytes, under passwordKey: LockedBytes
  ) throws(StorageError) {
    guard var keyring = try readWhole(), let found = keyring.spaceKey(passwordKey), found.key == old else {
      throw Self.changedMeanwhile
    }
    keyring.put(new, under: passwordKey, slots: found.slots)
    // Before the keyring: if the process is killed in between, all sessions have only forgotten a valid key. In the
    // other order they would continue with an invalid one.
    try askToForget()
    try write(keyring)
  }

  static let changedMeanwhile = StorageError(
    "change the space's key", "its password or key was changed meanwhile")

  func askToForget() throws(StorageError) {
    // The replacement of the file is the message.
    try folder.replace(SpaceFolder.lockName, with: Sodium.random(16), showsTime: true)
  }

  /// Whether there may be spaces: there is a keyring, or this process cannot read the folder.
  package var isThere: Bool { access(folder.path(SpaceFolder.keyringName), F_OK) == 0 || errno == EACCES }

  /// Returns why this process cannot read the folder or one of its files; `nil` if it can, or if there are no spaces.
  package func readRefusal() -> String? {
    if let refusal = ZigguratFiles.readRefusal(folder.path) { return refusal }
    let keyring = folder.path(SpaceFolder.keyringName)
    if let refusal = ZigguratFiles.readRefusal(keyring) { return refusal }
    if let defect = keyringDefect() { return "cannot read \(keyring): \(defect)" }
    for name in folder.names() {
      if let refusal = ZigguratFiles.readRefusal(folder.path(name)) { return refusal }
    }
    return nil
  }

  /// Whether the keyring has this space's key for the password; false also if it cannot be read.
  func has(_ spaceKey: LockedBytes, under passwordKey: LockedBytes) -> Bool {
    guard let keyring = try? read(), let found = keyring.spaceKey(passwordKey) else { return false }
    return found.key == spaceKey
  }

  /// Asks every process with open spaces of this library to forget their keys.
  package func lock() throws(SpaceError) {
    do throws(StorageError) { try askToForget() } catch { throw .storage(error) }
  }

  /// Returns a watch for requests to lock open spaces from now on.
  package func watchLocking() -> LockRequests { LockRequests(path: folder.path(SpaceFolder.lockName)) }

  /// Returns the error of the keyring, which the spaces share; nil if it is valid.
  package func keyringDefect() -> String? {
    do throws(StorageError) {
      _ = try readWhole()
      return nil
    } catch { return error.reason }
  }

  private func read() throws(StorageError) -> Keyring? {
    guard let bytes = try folder.read(SpaceFolder.keyringName) else { return nil }
    return try Keyring(bytes: bytes)
  }

  /// Reads the keyring for a change. A damaged keyring must not be overwritten.
  private func readWhole() throws(StorageError) -> Keyring? {
    guard let keyring = try read() else { return nil }
    guard keyring.isWhole else { throw Keyring.damaged("it is damaged") }
    return keyring
  }

  private func write(_ keyring: Keyring) throws(StorageError) {
    try folder.replace(SpaceFolder.keyringName, with: keyring.bytes, showsTime: true)
  }

  private func key(_ password: Password, _ keyring: Keyring) throws(StorageError) -> LockedBytes {
    guard let key = keyring.derivation.key(password) else {
      throw StorageError(
        "open a space", "\(keyring.derivation.memory >> 20) MB of memory are not available", code: ENOMEM)
    }
    return key
  }

  private static func spaceKey(_ keyring: Keyring, _ passwordKey: LockedBytes) throws(StorageError)
    -> LockedBytes
  {
    if let found = keyring.spaceKey(passwordKey) { return found.key }
    throw keyring.isWhole ? refused : Keyring.damaged("no space opens, but it is damaged")
  }

  // Closures under the lock throw one type of error.
  private static let refused = StorageError("open a space", "refused")
  private static let taken = StorageError("open a space", "taken")

  private static func spaceError(_ error: StorageError) -> SpaceError {
    error == refused ? .noSpaceOpens : error == taken ? .passwordTaken : .storage(error)
  }
}
