import Synchronization
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratUploading

/// Opens private spaces by their passwords, one at a time: each takes a quarter of a gigabyte.
struct PasswordAccess: Sendable {
  /// The opener of spaces; nil if passwords are never accepted.
  let spaces: (any SpaceOpener)?
  let queue: BlockingQueue
}

/// Ends sessions, and keeps up with the private spaces that they have open.
final class SessionUpkeep: Sendable {
  let table: SessionTable
  private let library: any ImageRepository
  private let uploads: Uploads?
  /// How deleted images are kept; nil if the server may not purge them.
  private let trash: TrashAccess?
  private let isToBeScrubbed = Atomic<Bool>(false)

  init(
    _ table: SessionTable, _ library: any ImageRepository, _ uploads: Uploads?, purging trash: TrashAccess?
  ) {
    self.table = table
    self.library = library
    self.uploads = uploads
    self.trash = trash
  }

  /// To be called about once a second: ends what has expired, and keeps up with what is built into spaces.
  func keep() {
    table.sweep()
    forgetUploads()
    scrub()
    for space in table.spaces {
      trash?.of(space).purge()
      space.refresh()
    }
  }

  func scrubLater() { isToBeScrubbed.store(true, ordering: .relaxed) }

  /// Frees the catalog's file of what was moved into a space; what fails now is tried again the next time.
  func scrub() {
    guard isToBeScrubbed.exchange(false, ordering: .relaxed) else { return }
    do throws(StorageError) { try library.catalog.scrub() } catch { scrubLater() }
  }

  /// Forgets the keys of all spaces.
  func lockSpaces() {
    table.lockSpaces()
    forgetUploads()
  }

  /// Forgets all uploads into spaces that are locked, with their names.
  func forgetUploads() { uploads?.forget(except: Set(table.spaces.map(\.space.identity))) }
}
