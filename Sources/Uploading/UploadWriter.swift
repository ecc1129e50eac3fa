import Glibc
import TileStorage
import ZigguratFiles

/// Brings the bytes of one request to an upload's file.
///
/// A newer writer of the same upload takes over at once: of a phone that changes networks the server may hear
/// nothing more for a while.
// Sendable: its caller's calls come one after the other; all that is shared is the upload's.
package final class UploadWriter: @unchecked Sendable {
  private static let bufferSize = 1 << 20

  package let upload: Upload
  private let uploads: Uploads
  private var buffer: [UInt8] = []
  /// The place of the buffer's first byte in the file.
  private var position: Int
  private var descriptor: Int32 = -1
  private var failure: UploadError?

  /// - Parameter offset: where the client goes on; 409 where that is not where the upload stands.
  package init(_ upload: Upload, of uploads: Uploads, offset: Int) throws(UploadError) {
    self.upload = upload
    self.uploads = uploads
    position = offset
    let failure: UploadError? = upload.change { state in
      guard state.stage == .receiving else {
        return state.stage == .failed
          ? UploadError(.ended, "the upload has ended")
          : UploadError(.conflict, "the upload is whole already")
      }
      guard offset == state.offset else {
        return UploadError(.conflict, "the upload stands at byte \(state.offset), not \(offset)")
      }
      return nil
    }
    if let failure { throw failure }
    upload.change { $0.writer = ObjectIdentifier(self) }
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Takes bytes into memory.
  /// - Returns: whether `drain` must come first now; nil where no more is wanted.
  package func receive(_ bytes: UnsafeRawBufferPointer) -> Bool? {
    guard failure == nil else { return nil }
    guard bytes.count <= upload.length - position - buffer.count else {
      failure = UploadError(.tooLarge, "the upload has more bytes than Upload-Length")
      return nil
    }
    buffer.append(contentsOf: bytes)
    return buffer.count >= Self.bufferSize
  }

  /// Writes what has come.
  package func drain() {
    guard failure == nil, !buffer.isEmpty else { return }
    failure = upload.disk.withLock { _ in write() }
    buffer.removeAll(keepingCapacity: true)
  }

  private func write() -> UploadError? {
    guard upload.state.writer == ObjectIdentifier(self) else {
      return UploadError(.conflict, "another request goes on with this upload")
    }
    if position == 0, buffer.count >= ImageFormat.signatureBytes,
      let error = Self.check(buffer, upload, uploads)
    {
      return error
    }
    let failure = if let vault = upload.vault { seal(vault) } else { put() }
    if let failure { return failure }
    position += buffer.count
    upload.change { $0.received = position }
    uploads.tell(upload)
    return nil
  }

  private func seal(_ vault: any UploadVault) -> UploadError? {
    let result: Result<Void, StorageError> = buffer.withUnsafeBytes { bytes in
      do throws(StorageError) { return .success(try vault.write(bytes, at: position)) } catch {
        return .failure(error)
      }
    }
    guard case .failure(let error) = result else { return nil }
    return Uploads.error(error)
  }

  private func put() -> UploadError? {
    if descriptor < 0 { descriptor = open(uploads.file(of: upload), O_WRONLY | O_CLOEXEC | O_NOFOLLOW) }
    guard descriptor >= 0 else { return UploadError(.ended, "the upload has ended") }
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

  /// Returns the reason to refuse a file; nil if it is accepted.
  private static func check(_ start: [UInt8], _ upload: Upload, _ uploads: Uploads) -> UploadError? {
    guard let kind = ImageFormat(start: start) else {
      if let slide = SlideFormat(start, named: upload.name) {
        return UploadError(.notAccepted, slide.uploadRefusal)
      }
      return UploadError(.notAccepted, "the content of the file is not an image of an accepted type")
    }
    // Some RAW files begin as TIFFs do: which it is, is known once all of it is here.
    let kinds = uploads.limits.kinds
    return kinds.contains(kind) || kind == .tiff && kinds.contains(.raw)
      ? nil : UploadError(.notAccepted, "images of the kind \(kind.rawValue) are not accepted")
  }

  /// The request is over: what has come is on the disk for good when this returns.
  /// - Returns: where the upload stands now.
  package func finish() throws(UploadError) -> Int {
    drain()
    let synced = failure == nil || failure?.kind == .diskFull || failure?.kind == .tooLarge
    let result: Result<Int, UploadError> = upload.disk.withLock { _ in
      synced ? settle() : .failure(failure!)
    }
    uploads.tell(upload)
    if case .failure(let error) = result, error.kind == .notAccepted {
      uploads.end(
        upload, .failed, fault: SlideFormat(start(), named: upload.name) == nil ? .kind : .slide,
        reason: error.reason)
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
    // Too small to be told while it came.
    if position == upload.length, let error = Self.check(start(), upload, uploads) { return .failure(error) }
    upload.change { state in
      state.offset = position
      state.received = position
      state.lastChange = Uploads.now()
      if position == upload.length { state.stage = .waiting }
      state.writer = nil
    }
    return .success(position)
  }

  private func start() -> [UInt8] {
    if let vault = upload.vault { return (try? vault.start(ImageFormat.signatureBytes)) ?? [] }
    let descriptor = open(uploads.file(of: upload), O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: ImageFormat.signatureBytes)
    let count = read(descriptor, &bytes, bytes.count)
    return Array(bytes.prefix(max(0, count)))
  }
}
