import Foundation
import Synchronization
package import ZigguratFiles

/// One file on its way into the library.
package final class Upload: Sendable {
  /// The stage of an upload.
  package enum Stage: String, Sendable, Codable {
    case receiving
    /// Whole; its turn to be tiled will come.
    case waiting
    case tiling, done, failed
  }

  /// The kind of a failure, for clients with messages of their own.
  package enum ErrorCode: String, Sendable, Codable {
    /// No picture, or of a kind that is not taken.
    case kind
    /// A microscope slide.
    case slide
    /// It cannot be read: damaged, or beyond what is decoded.
    case damaged
    /// More pixels than are taken.
    case pixels
    /// It did not come in time.
    case late
    /// The storage of images cannot be written.
    case storage
    /// The server's own.
    case server
    case cancelled
  }

  /// The part that changes.
  package struct State: Sendable {
    package var stage = Stage.receiving
    /// Bytes that are on the disk for good.
    package var offset = 0
    /// Bytes that have come, at least `offset`.
    package var received = 0
    /// The progress of tiling, 0 to 1.
    package var progress = 0.0
    /// The id of the picture that was made, or is there already, in the upload's repository.
    package var image: ImageID?
    /// The library had the same picture: nothing was made.
    package var isDuplicate = false
    /// Why it failed, or has to wait.
    package var reason: String?
    package var errorCode: ErrorCode?
    package var isCancelled = false
    /// Whether the end is decided, and the files are being removed.
    var isEnding = false
    /// Seconds since 1970.
    var lastChange = 0
    /// The one writer that still counts.
    var writer: ObjectIdentifier?
    /// Not tried again before: seconds since 1970.
    var notBefore = 0
    /// The number of postponements after failures that may pass.
    var delays = 0
    /// The number of attempts to tile it whose end is unknown.
    var attempts = 0

    var hasEnded: Bool { [.done, .failed].contains(stage) }
  }

  /// 32 hexadecimal digits of the system's generator: whoever knows it was told.
  package let id: String
  /// The name of the file, without harmful characters.
  package let name: String
  /// The destination folder in the library; empty for the library itself.
  package let folder: String
  package let length: Int
  /// The storage of an upload into a private space, which keeps nothing readable on a disk; nil for the library's.
  package let vault: (any EncryptedUploadSink)?
  /// The repository that the picture is added to.
  package var repository: ImageReference.Repository { vault == nil ? .library : .space }
  /// The part of an image that the server makes the file of; nil if a client sends the file.
  package let copy: CropRequest?
  /// The header `Upload-Metadata` that the client sent at creation; nil if it sent none.
  package let metadata: String?
  private let current: Mutex<State>
  /// Held while its files are touched.
  let disk = Mutex<Void>(())

  init(
    id: String, name: String, folder: String, length: Int, state: State,
    vault: (any EncryptedUploadSink)? = nil,
    copy: CropRequest? = nil, metadata: String? = nil
  ) {
    self.id = id
    self.name = name
    self.folder = folder
    self.length = length
    self.vault = vault
    self.copy = copy
    self.metadata = metadata
    current = Mutex(state)
  }

  package var state: State { current.withLock { $0 } }

  /// Whether it became an image, or never will.
  package var hasEnded: Bool { state.hasEnded }

  func change<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
    current.withLock { body(&$0) }
  }

  /// The record of an upload on the disk, beside its bytes.
  struct Record: Codable {
    let name: String
    let folder: String
    let length: Int
    /// Chosen before the archive is begun, so that after a crash the same picture has the same id.
    var image: ImageID?
    /// Written before anything of the picture is read: what ends the program is found here by the next one.
    var attempts: Int?
    var copy: CropRequest?
    var metadata: String?
    /// Whether the client cancelled the upload while it was being tiled; nil means false.
    var cancelled: Bool?

    init(_ upload: Upload, _ state: State) {
      name = upload.name
      folder = upload.folder
      length = upload.length
      image = state.image
      attempts = state.attempts
      copy = upload.copy
      metadata = upload.metadata
      cancelled = state.isCancelled ? true : nil
    }
  }

  /// The description for clients.
  package var json: [UInt8] {
    struct Reported: Encodable {
      let id, name, folder, status: String
      let length, offset: Int
      let progress: Double
      let image: ImageReference?
      let copyOf: ImageID?
      let duplicate: Bool
      let message: String?
      let errorCode: ErrorCode?
    }
    let state = state
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    // Strings and finite numbers always encode.
    return Array(
      try! encoder.encode(
        Reported(
          id: id, name: name, folder: repository.mark + folder,
          status: state.stage.rawValue,
          length: length,
          offset: state.stage == .receiving ? state.received : length,
          progress: (state.progress * 1000).rounded() / 1000,
          image: state.image.map { ImageReference($0, in: repository) }, copyOf: copy?.image,
          duplicate: state.isDuplicate, message: state.reason, errorCode: state.errorCode)))
  }
}
