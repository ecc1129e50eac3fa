import PrivateSpaces
import TileServing
import TileStorage
import Uploading

/// An open space's images for the server.
struct SpaceSource: OpenSpace {
  let space: PrivateSpace
  /// Where uploads lie while they come.
  var uploads = ""

  var identity: String { space.identity }

  func wipeKeys() { space.wipeKeys() }

  func makeVault() throws(StorageError) -> any UploadVault {
    SpaceVault(owner: identity, spool: try SealedSpool(folder: uploads))
  }

  func version() throws(StorageError) -> Int { try space.version() }

  func images() throws(StorageError) -> [SourceImage] {
    try space.files().map { file in
      SourceImage(id: file.id, path: file.path) { [space] () throws(StorageError) in
        guard let archive = try space.servedArchive(ofID: file.id) else {
          throw StorageError("open \(file.path)", "the image is not in the space any more")
        }
        return archive
      }
    }
  }
}

/// Opens a library's spaces for visitors who give a password in the page.
struct LibrarySpaces: SpaceOpener {
  let spaces: PrivateSpaces
  let uploads: String

  func open(_ password: String) throws(StorageError) -> (any OpenSpace)? {
    do {
      let space = try spaces.open(try Password(password))
      // Of what a killed server was sealing. Where nothing can be written, nothing is left either.
      try? space.prepare()
      return SpaceSource(space: space, uploads: uploads)
    } catch {
      switch error {
      case .storage(let error): throw error
      // What cannot be a password opens nothing.
      case .noSpaceOpens, .passwordTaken, .unusablePassword: return nil
      }
    }
  }
}

/// One upload on its way into a space.
struct SpaceVault: UploadVault {
  let owner: String
  let spool: SealedSpool

  func write(_ bytes: UnsafeRawBufferPointer, at position: Int) throws(StorageError) {
    try spool.write(bytes, at: position)
  }

  func start(_ count: Int) throws(StorageError) -> [UInt8] { try spool.start(count) }

  func discard() { spool.discard() }
}
