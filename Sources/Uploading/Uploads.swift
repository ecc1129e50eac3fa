import Glibc
import Synchronization
import ZigguratConcurrency
package import ZigguratFiles

/// All uploads of a library: those that come, those that wait to be tiled, and for a while those that ended.
package final class Uploads: Sendable {
  package let limits: UploadLimits
  let folder: UploadFolder
  private let table: Mutex<[String: Upload]>
  private let observation = ObserverList<Upload>()
  private let failures = Atomic<Int>(0)
  /// Bytes that were free at the last look; the largest number if that is unknown.
  private let lastFree = Atomic<Int>(.max)
  /// Ended uploads that are listed among the others.
  private static let listed = 500
  private let ended: UploadHistory
  /// The maximum number of attempts to tile an upload during which the program ended.
  private static let attempts = 2
  /// Uploads of an earlier server that could not be taken up: their folders are left as they are.
  package let unread: [StorageError]

  /// Whether a library has taken uploads.
  package static func areThere(in library: String) -> Bool {
    access(UploadFolder.path(library: library), F_OK) == 0
  }

  /// Takes up what an earlier server of the library left.
  package init(library: String, limits: UploadLimits = UploadLimits()) throws(StorageError) {
    self.limits = limits
    folder = try UploadFolder(library: library)
    ended = UploadHistory(folder: folder.path, memory: UploadLimits.memory)
    var open: [String: Upload] = [:]
    let found = folder.load()
    unread = found.unread
    for upload in found.uploads {
      // Killed while it removed the files of one that had ended.
      if ended.contains(upload.id) { folder.remove(upload) } else { open[upload.id] = upload }
    }
    table = Mutex(open)
  }

  /// Has `body` told of every change, by whoever made it.
  package func observe(_ body: @escaping @Sendable (Upload) -> Void) { observation.observe(body) }

  package func notify(_ upload: Upload) { observation.notify(upload) }

  package static func isID(_ text: String) -> Bool {
    text.utf8.count == 32
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }

  /// Also one that has ended, as long as it is remembered.
  package func upload(_ id: String) -> Upload? { table.withLock { $0[id] } ?? ended.upload(id) }

  /// The ids of those that failed, as long as they are remembered.
  package var failed: [String] { ended.failed }

  /// Uploads that failed since the start, without those that clients cancelled.
  package var failureCount: Int { failures.load(ordering: .relaxed) }

  /// The numbers of uploads that are being received and that wait to be tiled.
  package var unfinished: (receiving: Int, waiting: Int) {
    table.withLock { table in
      let stages = table.values.map(\.state.stage)
      return (stages.count { $0 == .receiving }, stages.count { $0 == .waiting })
    }
  }

  /// Bytes free where uploads are received; nil if that is unknown.
  package var freeBytes: Int? {
    let free = ZigguratFiles.freeBytes(at: folder.path)
    lastFree.store(free ?? .max, ordering: .relaxed)
    return free
  }

  /// By id.
  package var all: [Upload] { table.withLock { $0.values.sorted { $0.id < $1.id } } }

  /// Reserves a place for a new upload, of which nothing is on the disk before `create`.
  /// - Parameters:
  ///   - name: as the client gives it.
  ///   - length: bytes.
  ///   - vault: where its bytes go, for a private space.
  ///   - copy: what its file is made of, where nobody sends it.
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
    // The folder of an image that is copied exists.
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

  /// Makes the upload's files; on a failure its place is free again.
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
    // Of a copy nobody sends a file. It may have been cancelled meanwhile.
    if upload.copy != nil { upload.change { $0.stage = $0.stage == .receiving ? .waiting : $0.stage } }
    notify(upload)
  }

  /// Gives the place of a reserved upload back, whose files were never created.
  package func withdraw(_ upload: Upload) { table.withLock { $0[upload.id] = nil } }

  /// Whether the disk has room for so many bytes more.
  package func hasRoom(_ bytes: Int) -> Bool { (freeBytes ?? .max) - limits.reserve >= bytes }

  /// Whether the disk had room for so many bytes more at the last look. Does not block.
  package func hadRoom(_ bytes: Int) -> Bool {
    lastFree.load(ordering: .relaxed) - limits.reserve >= bytes
  }

  /// Ends an upload and removes its files. An upload that is being tiled ends a little later, also if the program ends
  /// before that, unless its record cannot be written. An upload that has ended is forgotten; its picture stays.
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
      // Its record is gone if it has ended meanwhile.
      try? record(upload) { _ in }
    }
  }

  /// Ends an upload: remembers how, and removes its files. An upload ends once.
  package func end(
    _ upload: Upload, _ stage: Upload.Stage, image: ImageID? = nil, isDuplicate: Bool = false,
    errorCode: Upload.ErrorCode? = nil, reason: String? = nil
  ) {
    end(upload, stage, image: image, isDuplicate: isDuplicate, errorCode: errorCode, reason: reason) { _ in
      true
    }
  }

  /// - Parameter isDue: whether the upload may end, by its state at the moment.
  /// - Returns: false if it is not due, or if it has ended before.
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
    // Of what is private nothing is written down.
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

  /// Forgets which uploads became an image of the library, since it is nobody else's business any more.
  package func forget(image: ImageID) {
    table.withLock { table in
      table = table.filter { _, upload in
        upload.repository != .library || upload.state.image != image || !upload.hasEnded
      }
    }
    ended.forget(image: image)
  }

  /// Ends the uploads into private spaces that are locked, and forgets that there were any.
  /// - Parameter owners: whose spaces are open.
  package func forget(except owners: Set<String>) {
    let gone = all.filter { upload in upload.vault.map { !owners.contains($0.owner) } ?? false }
    for upload in gone {
      if !upload.hasEnded { cancel(upload) }
      table.withLock { $0[upload.id] = nil }
    }
  }

  /// Removes partial uploads whose time is over, and forgets how others ended. To be called now and then.
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

  // MARK: To be tiled

  /// The next upload that is whole; it counts as being tiled from now on, which is on the disk before anything of
  /// it is read.
  package func takeNext() -> Upload? {
    let now = Self.now()
    let waiting = all.map { ($0, $0.state) }.filter {
      $1.stage == .waiting && !$1.isEnding && $1.notBefore <= now
    }
    // The oldest first.
    for (upload, _) in waiting.sorted(by: { $0.1.lastChange < $1.1.lastChange }) {
      do throws(StorageError) { try count(upload, by: 1) } catch {
        // It may have been cancelled meanwhile.
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

  /// Seconds until an upload that waits may be tiled; nil if none waits.
  package var secondsToNext: Int? {
    let times = table.withLock { $0.values.map(\.state) }.filter { $0.stage == .waiting && !$0.isEnding }
      .map(\.notBefore)
    return times.min().map { max(0, $0 - Self.now()) }
  }

  /// The bytes of an upload that is whole.
  package func file(of upload: Upload) -> String { folder.file(of: upload) }

  /// The images that other unfinished uploads to the same place have begun, which have no archives yet.
  package func imagesBegun(besides upload: Upload) -> [ImageID] {
    all.filter { $0.id != upload.id && !$0.hasEnded && $0.vault?.owner == upload.vault?.owner }
      .compactMap(\.state.image)
  }

  /// Keeps, before anything is built, which picture the upload becomes.
  package func assign(_ image: ImageID, for upload: Upload) throws(StorageError) {
    try record(upload) { $0.image = image }
  }

  /// The program ends in the midst of what is being tiled, by its own will: that is no fault of the picture's.
  package func discountAttempts() {
    for upload in all where upload.state.stage == .tiling { try? count(upload, by: -1) }
  }

  private func count(_ upload: Upload, by step: Int) throws(StorageError) {
    try record(upload) { $0.attempts = max(0, $0.attempts + step) }
  }

  /// Writes the record of an upload, durably. Several threads change records.
  /// - Parameter change: changes the image or the attempts, which the upload has once they are written.
  private func record(_ upload: Upload, _ change: (inout Upload.State) -> Void) throws(StorageError) {
    let result: Result<Void, StorageError> = upload.disk.withLock { _ in
      var new = upload.state
      change(&new)
      do throws(StorageError) {
        // Of what is private nothing lasts beyond the program.
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

  /// Reports the progress of tiling if it is at least 0.01 more than what was reported. Each page of a file has its own.
  /// - Parameter progress: 0 to 1.
  package func notify(_ upload: Upload, progress: Double) {
    let isMore = upload.change { state in
      guard progress > state.progress + 0.01 else { return false }
      state.progress = progress
      return true
    }
    if isMore { notify(upload) }
  }

  /// Whether the program has ended so often in the midst of what is taken next that it is not to be begun again.
  package func isGivenUp(_ upload: Upload) -> Bool { upload.state.attempts > Self.attempts }

  /// Back among those that wait, for `seconds` at least.
  package func reschedule(
    _ upload: Upload, seconds: Int, errorCode: Upload.ErrorCode? = nil, reason: String? = nil
  ) {
    // Whoever gets here is alive. What cannot be written counts as one attempt too many.
    try? record(upload) { $0.attempts = $0.attempts > Self.attempts ? Self.attempts : 0 }
    upload.change { state in
      state.stage = .waiting
      state.notBefore = Self.now() + seconds
      state.errorCode = errorCode
      state.reason = reason
    }
    notify(upload)
  }

  /// Seconds until the next attempt after a failure that is said to pass; after the last of them it has not passed.
  static let pauses = [20, 60, 180, 600, 1800]

  /// Tries an upload again after a failure that may pass; after a few of them it has failed.
  /// - Parameter isOurs: the server itself sees what it lacks, and no picture fails by that, however long it lasts. All
  ///   else may have been said by who decoded a stranger's bytes.
  package func retryLater(_ upload: Upload, errorCode: Upload.ErrorCode, reason: String, isOurs: Bool) {
    if isOurs { return reschedule(upload, seconds: Self.pauses[0], errorCode: errorCode, reason: reason) }
    let delays = upload.state.delays
    guard delays < Self.pauses.count else {
      return end(upload, .failed, errorCode: errorCode, reason: reason)
    }
    upload.change { $0.delays += 1 }
    reschedule(upload, seconds: Self.pauses[delays], errorCode: errorCode, reason: reason)
  }

  // MARK: Small things

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
