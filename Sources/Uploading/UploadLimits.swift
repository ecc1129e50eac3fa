import Glibc
public import TileStorage

/// What uploads may take.
public struct UploadLimits: Sendable {
  /// Of one file.
  public var bytes = 4 << 30
  /// Of one file for a private space, which is in memory while it is tiled: a quarter of the machine's.
  public var privateBytes = sysconf(Int32(_SC_PHYS_PAGES)) / 4 * sysconf(Int32(_SC_PAGESIZE))
  /// Of one picture, all its pages together.
  public var pixels = 2_000_000_000
  /// Uploads that are not yet pictures, in all.
  public var count = 1000
  /// Kinds of files, told by their content.
  public var kinds = Set(ImageSignature.allCases)
  /// Seconds after its last byte that an unfinished upload is kept.
  public var expiry = 24 * 3600
  /// Seconds that it is remembered how an upload ended.
  public var memory = 7 * 24 * 3600
  /// Bytes of the disk that uploads leave free, for the archives that are made of them.
  public var reserve = 64 << 20
  /// Sources stay beside their archives.
  public var keepsSources = false

  public init() {}
}

/// Why an upload is refused, with the HTTP status that says so.
public struct UploadError: Error, Hashable, Sendable {
  public let status: Int
  public let reason: String

  public init(_ status: Int, _ reason: String) { (self.status, self.reason) = (status, reason) }

  public static let diskFull = UploadError(507, "the server's disk is full; nothing that was sent is lost")
}
