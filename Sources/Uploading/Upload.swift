import Foundation
import Synchronization
package import ZigguratFiles

/// One file on its way into the library.
package final class Upload: Sendable {
  /// The stage of an upload.
  package enum Stage: String, Sendable, Codable {
    case receiving
    /// The upload is complete and waits to be tiled.
    case waiting
    case tiling, done, failed
  }

  /// The kind of a failure, for clients with messages of their own.
  package enum ErrorCode: String, Sendable, Codable {
    /// The file is not a picture, or its type is not accepted.
    case kind
    /// The file is a microscope slide.
    case slide
    /// The file cannot be read: it is damaged, or exceeds the limits of decoding.
    case damaged
    /// The image has more pixels than are accepted.
    case pixels
    /// The upload was not finished in time.
    case late
    /// The storage of images cannot be written.
    case storage
    /// An error of the server.
    case server
    case cancelled
  }

  /// The mutable part of an upload.
  package struct State: Sendable {
    package var stage = Stage.receiving
    /// The number of bytes that are durably on the disk.
    package var offset = 0
    /// The number of bytes that were received, at least `offset`.
    package var received = 0
    /// The progress of tiling, 0 to 1.
    package var progress = 0.0
    /// The id of the picture that was built, or that existed already, in the upload's repository.
    package var image: ImageID?
    /// Whether the library already had the same picture, so that none was built.
    package var isDuplicate = false
    /// The reason why the upload has failed, or has to wait.
    package var reason: String?
    package var errorCode: ErrorCode?
    package var isCancelled = false
    /// Whether the end is decided, and the files are being removed.
    var isEnding = false
    /// Seconds since 1970.
    var lastChange = 0
    /// The only valid writer.
    var writer: ObjectIdentifier?
    /// The earliest time of the next attempt, seconds since 1970.
    var notBefore = 0
    /// The number of postponements after errors that may be temporary.
    var delays = 0
    /// The number of attempts to tile the upload whose result is unknown.
    var attempts = 0

    var hasEnded: Bool { [.done, .failed].contains(stage) }
  }

  /// The id: 32 hexadecimal digits from the system's random generator. It is a secret that authorizes a client.
  package let id: String
  /// The name of the file, without harmful characters.
  package let name: String
  /// The destination folder in the library; empty for the library itself.
  package let folder: String
  package let length: Int
  /// The storage of an upload into a private space, which writes no plain data to a disk; nil for the library.
  package let vault: (any EncryptedUploadSink)?
  /// The repository that the picture is added to.
  package var repository: ImageReference.Repository { vault == nil ? .library : .space }
  /// The part of an image from which the server creates the file; nil if a client sends the file.
  package let copy: CropRequest?
  /// The header `Upload-Metadata` that the client sent at creation; nil if it sent none.
  package let metadata: String?
  private let current: Mutex<State>
  /// Held while its files are in use.
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

  /// Whether the upload has become an image, or has failed.
  package var hasEnded: Bool { state.hasEnded }

  func change<Result: Sendable>(_ body: (inout sending State) -> sending Result) -> Result {
    current.withLock { body(&$0) }
  }

  /// The record of an upload on the disk, beside its bytes.
  struct Record: Codable {
    let name: String
    let folder: String
    let length: Int
    /// The id of the picture. It is stored before the archive is begun, so that it is the same after a crash.
    var image: ImageID?
    /// The number of attempts. It is stored before the picture is read, so that the next process detects a picture that
    /// ends the program.
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
