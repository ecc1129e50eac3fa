import Files
import PrivateSpaces
import PyramidBuilding
import TileStorage
import Uploading

/// Makes pictures of uploads into private spaces: the file is opened into memory, and of what is built from
/// it nothing but sealed bytes reaches a disk.
extension UploadTiling {
  /// - Parameter vault: of the upload.
  func seal(_ upload: Upload, from vault: SpaceVault) {
    var path = ""
    do {
      guard let library = space(vault.owner), let space = (library.space as? SpaceSource)?.space else {
        throw StorageError("tile an upload", "the space is locked")
      }
      let file = try vault.spool.unsealed()
      path = file.path
      let digest = try SourceInspection.digest(path: path)
      if upload.state.image == nil, let twin = try library.image(madeFrom: digest) {
        return uploads.end(upload, .done, image: twin.marked, isDuplicate: true)
      }
      try check(path, of: upload)
      let builder = builder(into: space) { [stopping] in stopping.isSet || upload.state.isCancelled }
      let image = try withFreeID(
        upload.state.image?.unmarked, { try freeID(for: upload, in: space) },
        { image in
          try uploads.choose(image.marked, for: upload)
          try build(upload, SourceScan.Source(path: path, id: image, name: upload.name), builder)
        })
      withExtendedLifetime(file) {}
      library.refresh()
      uploads.end(upload, .done, image: image.marked)
    } catch {
      fail(upload, error, path: path)
    }
  }

  private func freeID(for upload: Upload, in space: PrivateSpace) throws(StorageError) -> ImageID {
    let ids = try space.ids()
    // To a space's index accents that are composed are those that are not.
    let taken = Set(ids.map(\.text))
    return try freeID(for: upload) { id in taken.contains(id.text) || ids.contains { $0.isBelow(id) } }
  }
}
