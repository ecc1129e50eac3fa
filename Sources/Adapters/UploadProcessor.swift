import Foundation
import PyramidBuilding
import Synchronization
package import TileStorage
import ZigguratConcurrency
import ZigguratFiles
package import ZigguratImageLibrary
import ZigguratTileRendering
package import ZigguratUploading

/// Makes pictures of uploads, one at a time, on a thread of its own.
// Sendable: all but flags and locks is touched by that thread alone.
package final class UploadProcessor: @unchecked Sendable {
  let uploads: Uploads
  let library: any ImageRepository
  let root: String
  let store: any ArchiveStore
  private var isPrepared = false
  /// Uploads that have failed, of which something may be taken back.
  private let failed = Mutex<[String]>([])
  /// Uploads of whose pictures others may have been told.
  var announced: Set<String> = []
  /// The unlocked private space of an identity.
  let space: @Sendable (String) -> SpaceLibrary?
  let stopping = OneShotEvent()
  /// Signalled when an upload waits or has failed, and to stop.
  private let changes = CountingSemaphore()
  /// Seconds between two looks for expired uploads.
  private static let expirySeconds = 30
  /// Seconds between two looks for originals of images that were purged.
  private static let removalSeconds = 600
  private let ended = OneShotEvent()
  /// Cuts out what becomes an image of its own, for which there is time.
  let cutter = RenderWorkers(threads: 1, timeout: 120)

  /// - Parameters:
  ///   - root: the folder that has the uploads.
  ///   - store: where their pictures go: that folder where it is nil.
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
    // What takes longer than a strip of tiles is cut off, as by a crash.
    ended.wait(upTo: 5)
  }

  private func run() {
    defer { ended.set() }
    // What a killed server had begun.
    prepare()
    var (lastLook, lastRemoval) = (0, 0)
    while !stopping.isSet {
      withdraw()
      // What was written now would lie in the empty folder below the share.
      if library.isAway {
        stopping.wait(upTo: 1)
        continue
      }
      // Before the next upload: a long queue does not keep expired uploads on the disk.
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
      // A catalog that could not be reached is asked again, and a postponed upload is due, at their time.
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
    // Of another one, whose making came to no end.
    store.withdraw()
    if upload.state.isCancelled || uploads.isGivenUp(upload) { return giveUp(upload) }
    if let vault = upload.vault as? SpaceVault { return tileIntoSpace(upload, from: vault) }
    if let copy = upload.copy { return tileCopy(copy, for: upload) }
    let path = uploads.file(of: upload)
    do {
      let digest = try SourceInspection.digest(path: path)
      // Again after a crash it is the picture that was begun.
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

  /// Before anything is decoded: a header may promise more pixels than any memory holds.
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

  /// Half of the machine: who looks at pictures goes first.
  private let threads = max(1, ProcessInfo.processInfo.activeProcessorCount / 2)

  /// - Parameter store: the library's where it is nil.
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

  /// Makes a picture under an id that no other image has, even if a build adds images meanwhile.
  /// - Parameters:
  ///   - chosen: an id that was chosen before; nil if none was.
  ///   - free: returns an id that no image has.
  ///   - make: makes the image of an id.
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

  /// Reserves a free id for an upload, and returns it: the file's name without its ending, in the folder that was asked for;
  /// with a number if the library has another picture of that name.
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
    // What another one was begun as when the server ended has no archive yet, and comes again.
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
