import Foundation
import PyramidBuilding
import Synchronization
package import TileStorage
import ZigguratConcurrency
import ZigguratFiles
package import ZigguratImageLibrary
import ZigguratTileRendering
package import ZigguratUploading

/// A processor that builds pictures of uploads, one at a time, on a thread of its own.
// Sendable: only that thread uses the state, except flags and locks.
package final class UploadProcessor: @unchecked Sendable {
  let uploads: Uploads
  let library: any ImageRepository
  let root: String
  let store: any ArchiveStore
  private var isPrepared = false
  /// Failed uploads whose reserved ids may have to be released.
  private let failed = Mutex<[String]>([])
  /// Uploads whose pictures may have been announced.
  var announced: Set<String> = []
  /// The unlocked private space of an identity.
  let space: @Sendable (String) -> SpaceLibrary?
  let stopping = OneShotEvent()
  /// Signalled when an upload waits or has failed, and to stop.
  private let changes = CountingSemaphore()
  /// The time between two checks for expired uploads, in seconds.
  private static let expirySeconds = 30
  /// The time between two checks for originals of purged images, in seconds.
  private static let removalSeconds = 600
  private let ended = OneShotEvent()
  /// The sandboxed processes that crop parts of images, with a long timeout.
  let cutter = RenderWorkers(threads: 1, timeout: 120)

  /// - Parameters:
  ///   - root: the folder of the uploads.
  ///   - store: the store of their pictures; nil for that folder.
  package init(
    _ uploads: Uploads, library: any ImageRepository, root: String, store: (any ArchiveStore)? = nil,
    space: @escaping @Sendable (String) -> SpaceLibrary?
  ) {
    self.uploads = uploads
    self.library = library
    self.root = root
    self.space = space
    self.store = store ?? FolderStore(library: root)
    // The server may have ended before it released them.
    failed.withLock { $0 = uploads.failed }
    uploads.observe { [weak self] in self?.take(changed: $0) }
  }

  /// Wakes the thread if it has something to do for an upload.
  private func take(changed upload: Upload) {
    switch upload.state.stage {
    case .waiting: break
    case .failed:
      guard upload.vault == nil else { return }
      failed.withLock { $0.append(upload.id) }
    case .receiving, .tiling, .done: return
    }
    changes.signal()
  }

  package func start() { StartedThread.needed { self.run() } }

  /// Stops the thread. A picture that is being tiled stays an upload.
  package func stop() {
    stopping.set()
    changes.signal()
    uploads.discountAttempts()
    // Work that takes longer than a strip of tiles is interrupted, as by a crash.
    ended.wait(upTo: 5)
  }

  private func run() {
    defer { ended.set() }
    // Removes unfinished work of a killed server.
    prepare()
    var (lastLook, lastRemoval) = (0, 0)
    while !stopping.isSet {
      withdraw()
      // A file that is written now would end up in the empty folder below the mount point.
      if library.isAway {
        stopping.wait(upTo: 1)
        continue
      }
      // Before the next upload, so that a long queue does not keep expired uploads on the disk.
      let now = time(nil)
      // The clock may be set back.
      if abs(now - lastLook) >= Self.expirySeconds {
        lastLook = now
        uploads.expire()
      }
      if abs(now - lastRemoval) >= Self.removalSeconds {
        lastRemoval = now
        removePurgedOriginals()
      }
      if let upload = uploads.takeNext() {
        tile(upload)
        continue
      }
      // An unreachable catalog is tried again, and a postponed upload is due, at their times.
      let pause = failed.withLock { $0.isEmpty } ? uploads.secondsToNext ?? Self.expirySeconds : 1
      changes.wait(upTo: Double(min(pause, Self.expirySeconds)), takesAll: true)
    }
  }

  private func prepare() {
    guard !isPrepared else { return }
    isPrepared = (try? builder { false }.prepare()) != nil
  }

  /// Releases ids that were reserved for uploads that failed.
  private func withdraw() {
    let ids = failed.withLock { failed in
      defer { failed = [] }
      return failed
    }
    let free = ids.filter { announced.remove($0) == nil }
    if !free.isEmpty, (try? library.release(uploads: free)) == nil { failed.withLock { $0 += free } }
  }

  private func tile(_ upload: Upload) {
    prepare()
    // From an earlier upload that was not finished.
    store.withdraw()
    if upload.state.isCancelled || uploads.isGivenUp(upload) { return giveUp(upload) }
    if let vault = upload.vault as? SpaceVault { return tileIntoSpace(upload, from: vault) }
    if let copy = upload.copy { return tileCopy(copy, for: upload) }
    let path = uploads.file(of: upload)
    do {
      let digest = try SourceInspection.digest(path: path)
      // After a crash, an upload with an id is the picture that was begun.
      if upload.state.image == nil, let match = try duplicate(ofFileAt: path, digest, in: library) {
        // Earlier versions did not keep every original.
        if match.record.isUploaded == true { try keepOriginal(of: upload, match.id, digest, match.record) }
        return uploads.end(upload, .done, image: match.id, isDuplicate: true)
      }
      try check(path, of: upload)
      let builder = builder { [stopping] in stopping.isSet || upload.state.isCancelled }
      let image = try withFreeID(
        upload.state.image, { try reserveFreeID(for: upload) },
        { image in try build(upload, as: image, digest, builder) })
      try finish(upload, as: image, digest)
    } catch {
      fail(upload, error, path: path)
    }
  }

  /// Checks an upload before it is decoded, because a header may state more pixels than fit into memory.
  func check(_ path: String, of upload: Upload) throws {
    let (slide, format) = try SourceInspection.kind(ofUploadAt: path, name: upload.name)
    if let slide { throw InvalidUpload(errorCode: .slide, reason: slide.uploadRefusal) }
    if let format, !uploads.limits.kinds.contains(format) {
      throw InvalidUpload(errorCode: .kind, reason: "images of the kind \(format.rawValue) are not accepted")
    }
    let inspection = try SourceInspection(path: path, options: BuildOptions())
    let pixels = inspection.size.width.multipliedReportingOverflow(by: inspection.size.height)
    let all = pixels.partialValue.multipliedReportingOverflow(by: max(1, inspection.pages))
    guard !pixels.overflow, !all.overflow, all.partialValue <= uploads.limits.pixels else {
      throw InvalidUpload(
        errorCode: .pixels,
        reason: "it has more than \(uploads.limits.pixels / 1_000_000) megapixels, which is the limit here")
    }
  }

  func build(_ upload: Upload, _ source: SourceScan.Source, _ builder: LibraryBuilder) throws {
    let failure = Box()
    var builder = builder
    builder.onProgress = { [uploads] in uploads.notify(upload, progress: $0) }
    LibraryRun(
      builder, [source],
      memoryLimit: Int(ProcessInfo.processInfo.physicalMemory / 4)
    ) { _, outcome in
      if case .failed(let error) = outcome { failure.error = error }
    }.run()
    if let error = failure.error { throw error }
  }

  /// The number of threads: half of the machine's, because requests take precedence.
  private let threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)

  /// - Parameter store: the store of the picture; nil for the library's.
  func builder(
    into store: (any ArchiveStore)? = nil, _ isCancelled: @escaping @Sendable () -> Bool
  ) -> LibraryBuilder {
    var builder = LibraryBuilder(
      store: store ?? self.store, options: BuildOptions(), jobs: threads,
      isCancelled: isCancelled)
    builder.imageTimeout = 120
    builder.allowance = BuildAllowance(pixels: uploads.limits.pixels)
    builder.isOfUploads = true
    // The sender can send it again, and nobody else reads a report.
    builder.options.failOn = .error
    builder.hasOwnOptions = true
    return builder
  }

  /// Builds a picture under an id that no other image has, even if a build adds images meanwhile.
  /// - Parameters:
  ///   - chosen: an id that was chosen before; nil if none was.
  ///   - free: returns an id that no image has.
  ///   - make: builds the image with an id.
  /// - Returns: the id.
  func withFreeID(
    _ chosen: ImageID?, _ free: () throws -> ImageID, _ make: (ImageID) throws -> Void
  ) throws -> ImageID {
    var image = try chosen ?? free()
    while true {
      do {
        try make(image)
        return image
      } catch let error as BuildError where error.isOfTakenID {
        let next = try free()
        guard next != image else { throw error }
        image = next
      }
    }
  }

  /// Reserves a free id for an upload, and returns it: the file's name without its extension, in the requested folder.
  /// If the library has another picture of that name, the id gets a number.
  func reserveFreeID(for upload: Upload) throws(StorageError) -> ImageID {
    try freeID(for: upload) { (id) throws(StorageError) in
      try !library.reserve(id, for: upload.id)
    }
  }

  func freeID(
    for upload: Upload, isTaken: (ImageID) throws(StorageError) -> Bool
  ) throws(StorageError) -> ImageID {
    let folder = upload.folder.isEmpty ? "" : upload.folder + "/"
    let stem = folder + UploadName.stem(upload.name)
    var (text, number) = (stem, 1)
    // A picture that another upload had begun when the server ended has no archive yet, and will be built again.
    let begun = Set(uploads.imagesBegun(besides: upload))
    while let id = ImageID(text) {
      if !begun.contains(id), try !isTaken(id) { return id }
      number += 1
      text = "\(stem)-\(number)"
    }
    throw StorageError("name a picture", "'\(stem)' is not an image id")
  }

  private final class Box {
    var error: BuildError?
  }
}
