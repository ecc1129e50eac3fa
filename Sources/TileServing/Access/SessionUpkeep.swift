import Synchronization
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratUploading

/// Opens private spaces by their passwords, one at a time, because each takes a quarter of a gigabyte.
struct PasswordAccess: Sendable {
  /// The opener of spaces; `nil` if passwords are never accepted.
  let spaces: (any SpaceOpener)?
  let queue: BlockingQueue
}

/// Expires sessions and maintains the private spaces that they have open.
final class SessionUpkeep: Sendable {
  let table: SessionTable
  private let library: any ImageRepository
  private let uploads: Uploads?
  /// The retention of deleted images; `nil` if the server may not purge them.
  private let trash: TrashAccess?
  private let needsVacuum = Atomic<Bool>(false)

  init(
    _ table: SessionTable, _ library: any ImageRepository, _ uploads: Uploads?, purging trash: TrashAccess?
  ) {
    self.table = table
    self.library = library
    self.uploads = uploads
    self.trash = trash
  }

  /// Expires sessions, purges trash and loads newly built images of open spaces. To be called about once a second.
  func keep() {
    table.sweep()
    forgetUploads()
    vacuum()
    for space in table.spaces {
      trash?.of(space).purge()
      space.refresh()
    }
  }

  func scrubLater() { needsVacuum.store(true, ordering: .relaxed) }

  /// Vacuums the catalog file after images were moved into a space. A failed attempt is repeated at the next call.
  func vacuum() {
    guard needsVacuum.exchange(false, ordering: .relaxed) else { return }
    do throws(StorageError) { try library.catalog.vacuum() } catch { scrubLater() }
  }

  /// Wipes the keys of all spaces.
  func lockSpaces() {
    table.lockSpaces()
    forgetUploads()
  }

  /// Forgets the uploads into locked spaces, including their names.
  func forgetUploads() { uploads?.forget(except: Set(table.spaces.map(\.space.identity))) }
}
