import PyramidBuilding
import TileStorage
import ZigguratFiles
import ZigguratPrivateSpaces
import ZigguratUploading

/// Makes pictures of uploads into private spaces: the file is opened into memory, and of what is built from
/// it nothing but sealed bytes reaches a disk.
extension UploadProcessor {
  /// - Parameter vault: of the upload.
  func tileIntoSpace(_ upload: Upload, from vault: SpaceVault) {
    var path = ""
    do {
      guard let library = space(vault.owner), let space = (library.space as? SpaceSource)?.space else {
        throw StorageError("tile an upload", "the space is locked")
      }
      let file = try vault.spool.unsealed()
      path = file.path
      let digest = try SourceInspection.digest(path: path)
      if upload.state.image == nil, let match = try duplicate(ofFileAt: path, digest, in: library.library) {
        try keep(path, of: upload, digest, match.id, in: space)
        return uploads.end(upload, .done, image: match.id, isDuplicate: true)
      }
      try check(path, of: upload)
      let builder = builder(into: space) { [stopping] in stopping.isSet || upload.state.isCancelled }
      let image = try withFreeID(
        upload.state.image, { try freeID(for: upload, in: space) },
        { image in
          try uploads.assign(image, for: upload)
          try build(upload, SourceScan.Source(path: path, id: image, name: upload.name), builder)
        })
      do { try keep(path, of: upload, digest, image, in: space) } catch {
        // Nobody is told of a picture that has lost its original.
        try? space.remove(id: image)
        throw error
      }
      withExtendedLifetime(file) {}
      library.refresh()
      uploads.end(upload, .done, image: image)
    } catch {
      fail(upload, error, path: path)
    }
  }

  /// Seals the file with its picture if the picture does not show all of it. A file of several pages is sealed with the
  /// first of them.
  private func keep(
    _ path: String, of upload: Upload, _ digest: String, _ image: ImageID, in space: PrivateSpace
  ) throws {
    let image = space.holds(image) ? image : image.page(1)
    guard let record = space.buildRecord(ofID: image), record.sourceDigest == digest, !record.showsWholeSource
    else { return }
    let file = try MappedFile(path: path)
    guard file.bytes.count <= PictureMove.longestOriginal else {
      throw BuildError(
        path,
        "its picture would not show all of the file, and a private space keeps files of at most "
          + "\(PictureMove.longestOriginal >> 20) MB")
    }
    try PictureMove.seal(
      original: file, ending: OriginalName.ending(sentAs: upload.name, file), of: image, in: space)
  }

  private func freeID(for upload: Upload, in space: PrivateSpace) throws(StorageError) -> ImageID {
    let ids = try space.ids()
    // To a space's index accents that are composed are those that are not.
    let taken = Set(ids.map(\.text))
    return try freeID(for: upload) { id in taken.contains(id.text) || ids.contains { $0.isBelow(id) } }
  }
}
