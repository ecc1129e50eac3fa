import PyramidBuilding
import TileStorage
import ZigguratFiles
import ZigguratPrivateSpaces
import ZigguratUploading

/// Pictures from uploads into private spaces. The file is opened in memory, and only encrypted data of the picture
/// reaches a disk.
extension UploadProcessor {
  /// - Parameter vault: the storage of the upload.
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
        // No client may be notified of a picture without its original.
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

  /// Encrypts the file with its picture if the picture does not show all of it. A file of several pages belongs to the
  /// first of them.
  private func keep(
    _ path: String, of upload: Upload, _ digest: String, _ image: ImageID, in space: PrivateSpace
  ) throws {
    let image = space.holds(image) ? image : image.page(1)
    guard let record = space.buildRecord(ofID: image), record.sourceDigest == digest, !record.showsWholeSource
    else { return }
    let file = try MappedFile(path: path)
    guard file.bytes.count <= PictureMove.maxOriginalSize else {
      throw BuildError(
        path,
        "its picture would not show all of the file, and a private space keeps files of at most "
          + "\(PictureMove.maxOriginalSize >> 20) MB")
    }
    try PictureMove.seal(
      original: file, ending: OriginalName.ending(sentAs: upload.name, file), of: image, in: space)
  }

  private func freeID(for upload: Upload, in space: PrivateSpace) throws(StorageError) -> ImageID {
    let ids = try space.ids()
    // The space's index treats composed and decomposed accents as equal.
    let taken = Set(ids.map(\.text))
    return try freeID(for: upload) { id in taken.contains(id.text) || ids.contains { $0.isBelow(id) } }
  }
}
