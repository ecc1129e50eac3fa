import Glibc
import Synchronization
import ZigguratConcurrency
package import ZigguratFiles

/// All uploads of a library: those in progress, those that wait to be tiled, and for a while those that have ended.
package final class Uploads: Sendable {
  package let limits: UploadLimits
  let folder: UploadFolder
  private let table: Mutex<[String: Upload]>
  private let observation = ObserverList<Upload>()
  private let failures = Atomic<Int>(0)
  /// The number of free bytes at the last check; the largest number if it is unknown.
  private let lastFree = Atomic<Int>(.max)
  /// The maximum number of ended uploads that are listed among the others.
  private static let listed = 500
  private let ended: UploadHistory
  /// The maximum number of attempts to tile an upload during which the program ended.
  private static let attempts = 2
  /// Uploads of an earlier server that could not be read. Their folders are left as they are.
  package let unread: [StorageError]

  /// Whether a library has received uploads.
  package static func areThere(in library: String) -> Bool {
    access(UploadFolder.path(library: library), F_OK) == 0
  }

  /// Opens the uploads of a library, including those of an earlier server.
  package init(library: String, limits: UploadLimits = UploadLimits()) throws(StorageError) {
    self.limits = limits
    folder = try UploadFolder(library: library)
    ended = UploadHistory(folder: folder.path, memory: UploadLimits.memory)
    var open: [String: Upload] = [:]
    let found = folder.load()
    unread = found.unread
    for upload in found.uploads {
      // The server was killed while it removed the files of an ended upload.
      if ended.contains(upload.id) { folder.remove(upload) } else { open[upload.id] = upload }
    }
    table = Mutex(open)
  }

  /// Calls `body` after every change of an upload, by any thread.
  package func observe(_ body: @escaping @Sendable (Upload) -> Void) { observation.observe(body) }

  package func notify(_ upload: Upload) { observation.notify(upload) }

  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 32
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Returns an upload, even if it has ended, as long as it is remembered.
  package func upload(_ id: String) -> Upload? { table.withLock { $0[id] } ?? ended.upload(id) }

  /// The ids of the failed uploads that are remembered.
  package var failed: [String] { ended.failed }

  /// The number of uploads that have failed since the start, without those that clients cancelled.
  package var failureCount: Int { failures.load(ordering: .relaxed) }

  /// The numbers of uploads that are being received and that wait to be tiled.
  package var unfinished: (receiving: Int, waiting: Int) {
    table.withLock { table in
      let stages = table.values.map(\.state.stage)
      return (stages.count { $0 == .receiving }, stages.count { $0 == .waiting })
    }
  }

  /// The number of free bytes where uploads are received; nil if it is unknown.
  package var freeBytes: Int? {
    let free = ZigguratFiles.freeBytes(at: folder.path)
    lastFree.store(free ?? .max, ordering: .relaxed)
    return free
  }

  /// All uploads, sorted by id.
  package var all: [Upload] { table.withLock { $0.values.sorted { $0.id < $1.id } } }

  /// Reserves a place for a new upload, which has no files before `create`.
  /// - Parameters:
  ///   - name: the name that the client gives.
  ///   - length: the size in bytes.
  ///   - vault: the storage for a private space.
  ///   - copy: the crop that is the file, if no client sends one.
  package func reserve(
    name: String, folder: String, length: Int, vault: (any EncryptedUploadSink)? = nil,
    copy: CropRequest? = nil,
    metadata: String? = nil
  ) throws(UploadError) -> Upload {
    guard length > 0 else { throw UploadError(.malformed, "an empty file is not an image") }
    let most = vault == nil ? limits.bytes : min(limits.bytes, limits.privateBytes)
    guard length <= most else { throw UploadError(.tooLarge, "a file may have at most \(most >> 20) MB") }
    guard let place = UploadName.folder(folder) else {
      throw UploadError(.malformed, "the name of the folder is invalid")
    }
    // The folder of a cropped image exists already.
    if copy == nil, let name = UploadName.archiveName(in: place) {
      throw UploadError(
        .malformed,
        "the folder '\(name)' has the name of an archive; name a folder that does not end in .szi, .dzi or .zip"
      )
    }
    var state = Upload.State()
    state.lastChange = Self.now()
    let id = Self.random() + Self.random()
    let upload = Upload(
      id: id, name: UploadName.file(name), folder: place, length: length, state: state, vault: vault,
      copy: copy, metadata: metadata)
    let isTaken = table.withLock { table in
      let open = table.values.count { !$0.hasEnded }
      guard open < UploadLimits.count else { return false }
      table[id] = upload
      return true
    }
    guard isTaken else {
      throw UploadError(.tooMany, "\(UploadLimits.count) uploads are waiting already; try again later")
    }
    return upload
  }

  /// Creates the files of an upload. If that fails, its place is released.
  package func create(_ upload: Upload) throws(UploadError) {
    do throws(UploadError) {
      guard hasRoom(upload.length) else { throw .diskFull }
      if let vault = upload.vault {
        do throws(StorageError) { try vault.open() } catch {
          throw UploadError(.diskFull, "the upload cannot be kept")
        }
      } else {
        do throws(StorageError) { try folder.create(upload) } catch { throw Self.error(error) }
      }
    } catch {
      withdraw(upload)
      throw error
    }
    // No client sends the file of a crop. The upload may have been cancelled in the meantime.
    if upload.copy != nil { upload.change { $0.stage = $0.stage == .receiving ? .waiting : $0.stage } }
    notify(upload)
  }

  /// Releases the place of a reserved upload whose files were never created.
  package func withdraw(_ upload: Upload) { table.withLock { $0[upload.id] = nil } }

  /// Whether the disk has room for a number of additional bytes.
  package func hasRoom(_ bytes: Int) -> Bool { (freeBytes ?? .max) - limits.reserve >= bytes }

  /// Whether the disk had room for a number of additional bytes at the last check. Does not block.
  package func hadRoom(_ bytes: Int) -> Bool {
    lastFree.load(ordering: .relaxed) - limits.reserve >= bytes
  }

  /// Ends an upload and removes its files. An upload that is being tiled ends a little later. It also ends if the
  /// program ends before that, unless its record cannot be written. An upload that has ended is forgotten; its picture
  /// stays.
  package func cancel(_ upload: Upload) {
    let hasEnded = upload.change { state in
      state.isCancelled = true
      state.writer = nil
      return state.hasEnded
    }
    if hasEnded {
      table.withLock { $0[upload.id] = nil }
      ended.forget(upload.id)
    } else if !end(upload, .failed, errorCode: .cancelled, reason: "cancelled", if: { $0.stage != .tiling }) {
      // The record does not exist if the upload has ended in the meantime.
      try? record(upload) { _ in }
    }
  }

  /// Ends an upload: stores its result, and removes its files. An upload ends once.
  package func end(
    _ upload: Upload, _ stage: Upload.Stage, image: ImageID? = nil, isDuplicate: Bool = false,
    errorCode: Upload.ErrorCode? = nil, reason: String? = nil
  ) {
    end(upload, stage, image: image, isDuplicate: isDuplicate, errorCode: errorCode, reason: reason) { _ in
      true
    }
  }

  /// - Parameter isDue: whether the upload may end in its present state.
  /// - Returns: false if it may not, or if it has ended before.
  @discardableResult
  func end(
    _ upload: Upload, _ stage: Upload.Stage, image: ImageID? = nil, isDuplicate: Bool = false,
    errorCode: Upload.ErrorCode? = nil, reason: String? = nil, if isDue: (Upload.State) -> Bool
  ) -> Bool {
    let claimed: Upload.State? = upload.change { state in
      guard !state.isEnding, !state.hasEnded, isDue(state) else { return nil }
      state.isEnding = true
      state.writer = nil
      return state
    }
    guard var end = claimed else { return false }
    end.stage = stage
    end.isDuplicate = isDuplicate
    end.errorCode = errorCode
    end.reason = reason
    end.image = image
    end.lastChange = Self.now()
    if stage == .done { end.progress = 1 }
    if stage == .failed, errorCode != .cancelled { failures.wrappingAdd(1, ordering: .relaxed) }
    // No data of a private upload is recorded.
    if upload.vault == nil { ended.remember(upload, end) }
    upload.disk.withLock { _ in
      if let vault = upload.vault { vault.discard() } else { folder.remove(upload) }
      upload.change { [end] in $0 = end }
    }
    notify(upload)
    table.withLock { table in
      let over = table.values.filter(\.hasEnded)
      guard over.count > Self.listed else { return }
      let oldest = over.sorted { $0.state.lastChange < $1.state.lastChange }
      for upload in oldest.prefix(over.count - Self.listed) { table[upload.id] = nil }
    }
    return true
  }

  /// Forgets which uploads became an image of the library, after the image became private.
  package func forget(image: ImageID) {
    table.withLock { table in
      table = table.filter { _, upload in
        upload.repository != .library || upload.state.image != image || !upload.hasEnded
      }
    }
    ended.forget(image: image)
  }

  /// Ends the uploads into private spaces that are locked, and forgets them.
  /// - Parameter owners: the owners of the open spaces.
  package func forget(except owners: Set<String>) {
    let gone = all.filter { upload in upload.vault.map { !owners.contains($0.owner) } ?? false }
    for upload in gone {
      if !upload.hasEnded { cancel(upload) }
      table.withLock { $0[upload.id] = nil }
    }
  }

  /// Removes expired partial uploads, and forgets the results of old ones. Must be called from time to time.
  package func expire() {
    ended.purge()
    let now = Self.now()
    for upload in all {
      let state = upload.state
      end(upload, .failed, errorCode: .late, reason: "not finished in time") { state in
        state.stage == .receiving && now - state.lastChange > UploadLimits.expiry
      }
      if state.hasEnded, now - state.lastChange > UploadLimits.memory {
        table.withLock { $0[upload.id] = nil }
      }
    }
  }

  /// Returns the time at which an unfinished upload is removed, seconds since 1970.
  package func expiry(of upload: Upload) -> Int { upload.state.lastChange + UploadLimits.expiry }

  // MARK: Tiling

  /// Returns the next complete upload; nil if there is none. It counts as being tiled from now on, which is on the disk
  /// before its file is read.
  package func takeNext() -> Upload? {
    let now = Self.now()
    let waiting = all.map { ($0, $0.state) }.filter {
      $1.stage == .waiting && !$1.isEnding && $1.notBefore <= now
    }
    // The oldest first.
    for (upload, _) in waiting.sorted(by: { $0.1.lastChange < $1.1.lastChange }) {
      do throws(StorageError) { try count(upload, by: 1) } catch {
        // It may have been cancelled in the meantime.
        upload.change { state in
          guard state.stage == .waiting else { return }
          state.notBefore = now + 20
          state.errorCode = .storage
          state.reason = "it cannot be written"
        }
        notify(upload)
        continue
      }
      let isTaken = upload.change { state in
        guard state.stage == .waiting, !state.isEnding else { return false }
        state.stage = .tiling
        state.progress = 0
        state.errorCode = nil
        state.reason = nil
        return true
      }
      if isTaken {
        notify(upload)
        return upload
      }
    }
    return nil
  }

  /// The seconds until a waiting upload may be tiled; nil if none waits.
  package var secondsToNext: Int? {
    let times = table.withLock { $0.values.map(\.state) }.filter { $0.stage == .waiting && !$0.isEnding }
      .map(\.notBefore)
    return times.min().map { max(0, $0 - Self.now()) }
  }

  /// Returns the path of a complete upload's file.
  package func file(of upload: Upload) -> String { folder.file(of: upload) }

  /// Returns the images that other unfinished uploads to the same repository have begun. They have no archives yet.
  package func imagesBegun(besides upload: Upload) -> [ImageID] {
    all.filter { $0.id != upload.id && !$0.hasEnded && $0.vault?.owner == upload.vault?.owner }
      .compactMap(\.state.image)
  }

  /// Records the id of an upload's picture before anything is built.
  package func assign(_ image: ImageID, for upload: Upload) throws(StorageError) {
    try record(upload) { $0.image = image }
  }

  /// Discounts the attempts in progress before the program stops, because the pictures are not the cause.
  package func discountAttempts() {
    for upload in all where upload.state.stage == .tiling { try? count(upload, by: -1) }
  }

  private func count(_ upload: Upload, by step: Int) throws(StorageError) {
    try record(upload) { $0.attempts = max(0, $0.attempts + step) }
  }

  /// Writes the record of an upload, durably. Several threads change records.
  /// - Parameter change: changes the image or the attempts. The upload has them after they are written.
  private func record(_ upload: Upload, _ change: (inout Upload.State) -> Void) throws(StorageError) {
    let result: Result<Void, StorageError> = upload.disk.withLock { _ in
      var new = upload.state
      change(&new)
      do throws(StorageError) {
        // No data of a private upload is recorded.
        if upload.vault == nil { try folder.record(upload, new) }
      } catch { return .failure(error) }
      upload.change { [new] state in
        guard !state.hasEnded else { return }
        state.image = new.image
        state.attempts = new.attempts
      }
      return .success(())
    }
    try result.get()
  }

  /// Reports the progress of tiling if it is at least 0.01 more than the last report. Each page of a file has its own
  /// progress.
  /// - Parameter progress: 0 to 1.
  package func notify(_ upload: Upload, progress: Double) {
    let isMore = upload.change { state in
      guard progress > state.progress + 0.01 else { return false }
      state.progress = progress
      return true
    }
    if isMore { notify(upload) }
  }

  /// Whether the program has ended so often while it tiled an upload that there is no further attempt.
  package func isGivenUp(_ upload: Upload) -> Bool { upload.state.attempts > Self.attempts }

  /// Puts an upload back among the waiting ones, for at least `seconds`.
  package func reschedule(
    _ upload: Upload, seconds: Int, errorCode: Upload.ErrorCode? = nil, reason: String? = nil
  ) {
    // The program has survived the attempt. If that cannot be written, one attempt too many is counted.
    try? record(upload) { $0.attempts = $0.attempts > Self.attempts ? Self.attempts : 0 }
    upload.change { state in
      state.stage = .waiting
      state.notBefore = Self.now() + seconds
      state.errorCode = errorCode
      state.reason = reason
    }
    notify(upload)
  }

  /// The pauses in seconds before further attempts after an error that may be temporary. After the last one, the error
  /// is final.
  static let pauses = [20, 60, 180, 600, 1800]

  /// Tries an upload again after an error that may be temporary. After several attempts it has failed.
  /// - Parameter isOurs: whether the server itself has detected the problem. No picture fails because of it, however
  ///   long it lasts. Any other error may come from a process that has decoded untrusted bytes.
  package func retryLater(_ upload: Upload, errorCode: Upload.ErrorCode, reason: String, isOurs: Bool) {
    if isOurs { return reschedule(upload, seconds: Self.pauses[0], errorCode: errorCode, reason: reason) }
    let delays = upload.state.delays
    guard delays < Self.pauses.count else {
      return end(upload, .failed, errorCode: errorCode, reason: reason)
    }
    upload.change { $0.delays += 1 }
    reschedule(upload, seconds: Self.pauses[delays], errorCode: errorCode, reason: reason)
  }

  // MARK: Helpers

  static func now() -> Int { time(nil) }

  private static func random() -> String {
    // The system's generator is the kernel's.
    let digits = String(UInt64.random(in: 0...(.max)), radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  static func error(_ error: StorageError) -> UploadError {
    error.isOfFullDisk
      ? .diskFull : UploadError(.notWritable, "the upload cannot be written")
  }
}
