import PrivateSpaces
import TileServing
import TileStorage

/// An open space's images for the server.
struct SpaceSource: LibrarySource {
  let space: PrivateSpace

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
