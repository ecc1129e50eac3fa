import PrivateSpaces
import TileServing
import TileStorage

/// An open space's images for the server.
struct SpaceSource: OpenSpace {
  let space: PrivateSpace

  var identity: String { space.identity }

  func wipeKeys() { space.wipeKeys() }

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

  func open(_ password: String) throws(StorageError) -> (any OpenSpace)? {
    do {
      return SpaceSource(space: try spaces.open(try Password(password)))
    } catch {
      switch error {
      case .storage(let error): throw error
      // What cannot be a password opens nothing.
      case .noSpaceOpens, .passwordTaken, .unusablePassword: return nil
      }
    }
  }
}
