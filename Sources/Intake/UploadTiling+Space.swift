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
        return uploads.end(upload, .done, image: "~/" + twin, isDuplicate: true)
      }
      try check(path)
      let image = try upload.state.image.map { String($0.dropFirst(2)) } ?? freeID(for: upload, in: space)
      try uploads.choose("~/" + image, for: upload)
      try build(
        upload, SourceScan.Source(path: path, id: image, name: upload.name),
        builder(into: space) { [stopping] in stopping.isSet || upload.state.isCancelled })
      withExtendedLifetime(file) {}
      library.refresh()
      uploads.end(upload, .done, image: "~/" + image)
    } catch {
      fail(upload, error, path: path)
    }
  }

  private func freeID(for upload: Upload, in space: PrivateSpace) throws(StorageError) -> String {
    let taken = Set(try space.ids())
    return freeID(for: upload) { id in taken.contains(id) || taken.contains { $0.hasPrefix(id + "/") } }
  }
}
