import Glibc
import PyramidBuilding
import TileStorage
import ZigguratFiles
import ZigguratImageLibrary
import ZigguratUploading

/// The ends of uploads: as pictures in the library, failed, or postponed.
extension UploadProcessor {
  /// - Parameter digest: the digest of the upload's file.
  func finish(_ upload: Upload, as image: ImageID, _ digest: String) throws(StorageError) {
    try keepOriginal(of: upload, image, digest, store.buildRecord(ofID: image))
    try show(image, of: upload)
    uploads.end(upload, .done, image: image)
  }

  /// Keeps the file as the image's original if that is configured, or if the image does not show all of it.
  /// - Parameter record: the record of the image, or of a page of the book.
  func keepOriginal(
    of upload: Upload, _ image: ImageID, _ digest: String, _ record: BuildRecord?
  ) throws(StorageError) {
    let original = try original(of: upload, image, digest)
    // Only the original contains the rest.
    if uploads.limits.keepsSources || record?.showsWholeSource != true {
      try RootDirectory(root).make(parentFolder(image.archive(in: root)))
      try original.keep(mayCopy: true)
    } else {
      original.withdraw()
    }
  }

  /// Builds a picture after its original is stored, so that no picture is published without its original.
  func build(
    _ upload: Upload, as image: ImageID, _ digest: String, _ builder: LibraryBuilder
  ) throws {
    try uploads.assign(image, for: upload)
    let original = try original(of: upload, image, digest)
    try RootDirectory(root).make(parentFolder(image.archive(in: root)))
    try original.keep(mayCopy: false)
    do {
      try build(upload, SourceScan.Source(path: uploads.file(of: upload), id: image), builder)
    } catch {
      original.withdraw()
      throw error
    }
  }

  private func original(
    of upload: Upload, _ image: ImageID, _ digest: String
  ) throws(StorageError) -> NewOriginal {
    try NewOriginal(
      uploads.file(of: upload), digest: digest, sentAs: upload.name, ofArchive: image.archive(in: root))
  }

  /// Ends an upload without reading its file. The server has ended too often while it was tiled, or the client has
  /// cancelled it. If its picture exists, the upload is done, because the end or the cancellation came too late.
  func giveUp(_ upload: Upload) {
    let path = uploads.file(of: upload)
    do {
      if upload.copy == nil, upload.vault == nil, let image = upload.state.image {
        let digest = try SourceInspection.digest(path: path)
        if try isThere(image, digest) { return try finish(upload, as: image, digest) }
        // The picture was not created.
        try original(of: upload, image, digest).withdraw()
      }
      if stopping.isSet { return uploads.reschedule(upload, seconds: 0) }
      if upload.state.isCancelled {
        uploads.end(upload, .failed, errorCode: .cancelled, reason: "cancelled")
      } else {
        uploads.end(
          upload, .failed, errorCode: .server,
          reason: "the server ended twice while it made the picture; it is not tried again")
      }
    } catch {
      fail(upload, error, path: path)
    }
  }

  /// Whether an image was built from the file with a digest.
  private func isThere(_ image: ImageID, _ digest: String) throws(CatalogIsAway) -> Bool {
    let latest = ContinuousClock.now + library.settlingTime
    while true {
      if try images(madeFrom: digest, in: library).contains(where: { $0.id == image }) { return true }
      guard !stopping.isSet, .now < latest else { return false }
      stopping.wait(upTo: 0.2)
    }
  }

  /// Announces a picture, and waits until it is listed. The client is notified afterwards.
  func show(_ image: ImageID, of upload: Upload) throws(StorageError) {
    announced.insert(upload.id)
    try store.announce()
    announced.remove(upload.id)
    let latest = ContinuousClock.now + library.settlingTime
    while !stopping.isSet {
      if library.refresh() { _ = try? library.updateCatalog() }
      guard .now < latest, (try? library.catalog.hasItem(image)) != true else { return }
      stopping.wait(upTo: 0.2)
    }
  }

  func fail(_ upload: Upload, _ error: any Error, path: String) {
    switch error {
    case let error as BuildError:
      fail(
        upload, error.isTemporary ? .server : .damaged, described(error.reason, of: path, upload),
        isTemporary: error.isTemporary)
    case is CatalogIsAway:
      let reason = "the catalog cannot be reached, so it is unknown whether the image exists already"
      fail(upload, .server, reason, isTemporary: true, isOurs: true)
    case let error as InvalidUpload: fail(upload, error.errorCode, error.reason, isTemporary: false)
    case let error as StorageError:
      fail(upload, .storage, "it cannot be written", isTemporary: error.isTemporary, isOurs: true)
    default: fail(upload, .damaged, "it cannot be read", isTemporary: false)
    }
  }

  /// Returns the image that was already built from a file, or the book of all its pages, with the record of one
  /// archive. A book without all pages is no duplicate, and neither is the label of a slide.
  func duplicate(
    ofFileAt path: String, _ digest: String, in library: any ImageRepository
  ) throws -> (id: ImageID, record: BuildRecord)? {
    var pages: Int?
    for image in try images(madeFrom: digest, in: library) {
      // A server with a shared catalog may not have looked it up yet.
      library.lookup(of: [image.first])?.wait()
      let record: BuildRecord?
      do throws(StorageError) { record = try library.archive(image.first)?.buildRecord } catch {
        if error.isTemporary { throw error }
        continue
      }
      guard let record, record.associatedAs == nil else { continue }
      if let known = image.pages {
        if pages == nil { pages = try SourceInspection(path: path, options: BuildOptions()).pages }
        guard let pages, known >= pages else { continue }
      }
      return (image.id, record)
    }
    return nil
  }

  private func images(
    madeFrom digest: String, in library: any ImageRepository
  ) throws(CatalogIsAway) -> [MadeImage] {
    do throws(StorageError) { return try library.images(madeFrom: digest) } catch { throw CatalogIsAway() }
  }

  /// Returns the message of a library without the paths of the server.
  private func described(_ reason: String, of path: String, _ upload: Upload) -> String {
    // A relative path gets a slash, because `.` alone occurs in many messages.
    let place = root.hasPrefix("/") ? root : "\(root)/"
    let text = reason.replacing(path, with: upload.name).replacing(place, with: "…")
    return String(text.prefix(300))
  }

  /// - Parameter isOurs: whether no sandboxed process was involved.
  private func fail(
    _ upload: Upload, _ errorCode: Upload.ErrorCode, _ reason: String, isTemporary: Bool, isOurs: Bool = false
  ) {
    if stopping.isSet, !upload.state.isCancelled { return uploads.reschedule(upload, seconds: 0) }
    if upload.state.isCancelled {
      return uploads.end(upload, .failed, errorCode: .cancelled, reason: "cancelled")
    }
    if isTemporary {
      return uploads.retryLater(
        upload, errorCode: errorCode, reason: reason,
        isOurs: isOurs || store.isAway || !uploads.hasRoom(upload.length))
    }
    uploads.end(upload, .failed, errorCode: errorCode, reason: reason)
  }

  struct CatalogIsAway: Error {}

  /// The rejection of a file before it is decoded.
  struct InvalidUpload: Error {
    let errorCode: Upload.ErrorCode
    let reason: String
  }
}
