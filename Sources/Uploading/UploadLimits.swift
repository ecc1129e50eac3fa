import Glibc
package import TileStorage

/// The limits of uploads.
package struct UploadLimits: Codable, Equatable, Sendable {
  /// The maximum size of a file in bytes.
  package var bytes = 4 << 30
  /// The maximum size of a file for a private space in bytes: a quarter of the machine's memory, which contains it
  /// during tiling.
  package var privateBytes = sysconf(Int32(_SC_PHYS_PAGES)) / 4 * sysconf(Int32(_SC_PAGESIZE))
  /// The maximum number of pixels of an image with all its pages.
  package var pixels = 2_000_000_000
  /// The accepted formats of files, detected by their content.
  package var kinds = Set(ImageFormat.uploads)
  /// The number of bytes that uploads leave free on the disk, for the archives that are built from them.
  package var reserve = 64 << 20
  /// Whether originals are kept beside their archives.
  package var keepsSources = false

  /// The maximum number of uploads that are unfinished or wait for a build.
  package static let count = 1000
  /// The time in seconds after its last byte for which an unfinished upload is kept.
  package static let expiry = 24 * 3600
  /// The time in seconds for which the status of a finished upload is kept.
  package static let memory = 7 * 24 * 3600

  package init() {}
}

/// The reason why an upload is refused.
package struct UploadError: Error, Hashable, Sendable {
  package enum Kind: Sendable {
    /// The request is invalid.
    case malformed
    case forbidden
    /// The upload is in another state than the request expects.
    case conflict
    /// The upload has ended.
    case ended
    /// The request has another version of the protocol.
    case otherProtocol
    case tooLarge
    /// The file is not an image, or its type is not accepted.
    case notAccepted
    /// The maximum number of uploads is waiting.
    case tooMany
    case notWritable
    case diskFull
  }

  package let kind: Kind
  package let reason: String

  package init(_ kind: Kind, _ reason: String) {
    self.kind = kind
    self.reason = reason
  }

  package static let diskFull = UploadError(
    .diskFull, "the server's disk is full; nothing that was sent is lost")
}
