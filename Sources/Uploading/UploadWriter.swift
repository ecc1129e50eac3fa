import Glibc
import TileStorage
import ZigguratFiles

/// A writer of the bytes of one request to an upload's file.
///
/// A newer writer of the same upload takes over at once: when a phone changes networks, the server may not notice that
/// for a while.
// Sendable: calls come one after the other, and only the upload is shared.
package final class UploadWriter: @unchecked Sendable {
  private static let bufferSize = 1 << 20

  package let upload: Upload
  private let uploads: Uploads
  private var buffer: [UInt8] = []
  /// The place of the buffer's first byte in the file.
  private var position: Int
  private var descriptor: Int32 = -1
  private var failure: UploadError?
  /// Whether the file was refused as a microscope slide.
  private var isSlide = false

  /// - Parameter offset: the position at which the client continues. The upload must be at the same one (else 409).
  package init(_ upload: Upload, of uploads: Uploads, offset: Int) throws(UploadError) {
    self.upload = upload
    self.uploads = uploads
    position = offset
    let failure: UploadError? = upload.change { state in
      guard state.stage == .receiving, !state.isEnding else {
        return state.stage == .failed || state.isEnding
          ? UploadError(.ended, "the upload has ended")
          : UploadError(.conflict, "the upload is whole already")
      }
      guard offset == state.offset else {
        return UploadError(.conflict, "the upload stands at byte \(state.offset), not \(offset)")
      }
      state.writer = ObjectIdentifier(self)
      return nil
    }
    if let failure { throw failure }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// The next step after bytes were received.
  package enum Step {
    case receiveMore
    /// The buffer is full: `drain` must be called before the next `receive`.
    case drain
    /// The upload has failed, and takes no more bytes.
    case stop
  }

  /// Takes bytes into memory.
  package func receive(_ bytes: UnsafeRawBufferPointer) -> Step {
    guard failure == nil else { return .stop }
    guard bytes.count <= upload.length - position - buffer.count else {
      failure = UploadError(.tooLarge, "the upload has more bytes than Upload-Length")
      return .stop
    }
    buffer.append(contentsOf: bytes)
    return buffer.count >= Self.bufferSize ? .drain : .receiveMore
  }

  /// Writes the bytes in the buffer.
  package func drain() {
    guard failure == nil, !buffer.isEmpty else { return }
    failure = upload.disk.withLock { _ in write() }
    buffer.removeAll(keepingCapacity: true)
  }

  private func write() -> UploadError? {
    guard upload.state.writer == ObjectIdentifier(self) else {
      return UploadError(.conflict, "another request goes on with this upload")
    }
    if position == 0, buffer.count >= ImageFormat.signatureBytes, let error = check(buffer) {
      return error
    }
    let failure = if let vault = upload.vault { seal(vault) } else { put() }
    if let failure { return failure }
    position += buffer.count
    upload.change { state in
      state.received = position
      state.lastChange = Uploads.now()
    }
    uploads.notify(upload)
    return nil
  }

  private func seal(_ vault: any EncryptedUploadSink) -> UploadError? {
    let result: Result<Void, StorageError> = buffer.withUnsafeBytes { bytes in
      do throws(StorageError) { return .success(try vault.write(bytes, at: position)) } catch {
        return .failure(error)
      }
    }
    guard case .failure(let error) = result else { return nil }
    return Uploads.error(error)
  }

  private func put() -> UploadError? {
    do throws(StorageError) { try openFile() } catch {
      return error.kind == .notFound ? UploadError(.ended, "the upload has ended") : Uploads.error(error)
    }
    let code = buffer.withUnsafeBytes { bytes -> Int32 in
      var rest = bytes[...]
      while !rest.isEmpty {
        let count = pwrite(
          descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count,
          off_t(position + bytes.count - rest.count))
        if count < 0, errno == EINTR { continue }
        guard count > 0 else { return errno }
        rest = rest.dropFirst(count)
      }
      return 0
    }
    return code == 0 ? nil : Uploads.error(StorageError("write an upload", errno: code))
  }

  private func openFile() throws(StorageError) {
    if descriptor < 0 { descriptor = open(uploads.file(of: upload), O_RDWR | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else { throw StorageError("open an upload", errno: errno) }
  }

  /// Returns the reason to refuse a file; nil if it is accepted.
  private func check(_ start: [UInt8]) -> UploadError? {
    guard let kind = ImageFormat(start: start) else {
      if let slide = SlideFormat(start, named: upload.name) {
        isSlide = true
        return UploadError(.notAccepted, slide.uploadRefusal)
      }
      return UploadError(.notAccepted, "the content of the file is not an image of an accepted type")
    }
    // Some RAW files begin like TIFF files. The format is known only when the file is complete.
    let kinds = uploads.limits.kinds
    return kinds.contains(kind) || kind == .tiff && kinds.contains(.raw)
      ? nil : UploadError(.notAccepted, "images of the kind \(kind.rawValue) are not accepted")
  }

  /// Ends the request. The received bytes are durably on the disk when this returns.
  /// - Returns: the new offset of the upload.
  package func finish() throws(UploadError) -> Int {
    drain()
    let synced = failure == nil || failure?.kind == .diskFull || failure?.kind == .tooLarge
    let result: Result<Int, UploadError> = upload.disk.withLock { _ in
      synced ? settle() : .failure(failure!)
    }
    uploads.notify(upload)
    if case .failure(let error) = result, error.kind == .notAccepted {
      uploads.end(upload, .failed, errorCode: isSlide ? .slide : .kind, reason: error.reason) { state in
        state.writer == ObjectIdentifier(self)
      }
    }
    let offset = try result.get()
    if let failure { throw failure }
    return offset
  }

  private func settle() -> Result<Int, UploadError> {
    guard upload.state.writer == ObjectIdentifier(self) else {
      return .failure(UploadError(.conflict, "another request goes on with this upload"))
    }
    if descriptor >= 0, fdatasync(descriptor) != 0 {
      return .failure(Uploads.error(StorageError("write an upload", errno: errno)))
    }
    // The file was too small for an earlier check.
    if position == upload.length {
      do throws(StorageError) {
        if let error = check(try start()) { return .failure(error) }
      } catch { return .failure(Uploads.error(error)) }
    }
    let isSettled = upload.change { state in
      // It may have been cancelled meanwhile.
      guard state.writer == ObjectIdentifier(self) else { return false }
      state.offset = position
      state.received = position
      state.lastChange = Uploads.now()
      if position == upload.length { state.stage = .waiting }
      state.writer = nil
      return true
    }
    return isSettled ? .success(position) : .failure(UploadError(.ended, "the upload has ended"))
  }

  /// Returns the first bytes of the file.
  private func start() throws(StorageError) -> [UInt8] {
    if let vault = upload.vault { return try vault.start(ImageFormat.signatureBytes) }
    try openFile()
    var bytes = [UInt8](repeating: 0, count: ImageFormat.signatureBytes)
    var count = pread(descriptor, &bytes, bytes.count, 0)
    while count < 0, errno == EINTR { count = pread(descriptor, &bytes, bytes.count, 0) }
    guard count >= 0 else { throw StorageError("read an upload", errno: errno) }
    return Array(bytes.prefix(count))
  }
}
