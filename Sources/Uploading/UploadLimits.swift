import Glibc
package import TileStorage

/// The limits of uploads.
package struct UploadLimits: Codable, Equatable, Sendable {
  /// The maximum size of a file, bytes.
  package var bytes = 4 << 30
  /// The maximum size of a file for a private space, bytes. It is in memory while it is tiled: a quarter of the machine's.
  package var privateBytes = sysconf(Int32(_SC_PHYS_PAGES)) / 4 * sysconf(Int32(_SC_PAGESIZE))
  /// The maximum number of pixels of an image with all its pages.
  package var pixels = 2_000_000_000
  /// Formats of files, detected by their content.
  package var kinds = Set(ImageFormat.uploads)
  /// Bytes of the disk that uploads leave free, for the archives that are made of them.
  package var reserve = 64 << 20
  /// Sources stay beside their archives.
  package var keepsSources = false

  /// The maximum number of uploads that are unfinished or wait for a build.
  package static let count = 1000
  /// Seconds after its last byte that an unfinished upload is kept.
  package static let expiry = 24 * 3600
  /// Seconds that the status of a finished upload is kept.
  package static let memory = 7 * 24 * 3600

  package init() {}
}

/// The reason why an upload is refused.
package struct UploadError: Error, Hashable, Sendable {
  package enum Kind: Sendable {
    /// The request says something that cannot be understood.
    case malformed
    case forbidden
    /// The upload is in another state than the request supposes.
    case conflict
    /// The upload is over.
    case ended
    /// Another version of the protocol.
    case otherProtocol
    case tooLarge
    /// No image, or one of a type that is not accepted.
    case notAccepted
    /// As many wait as may.
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
