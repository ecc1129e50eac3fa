import Files
import Glibc
import Imaging
import TileStorage

/// Why an image was not built.
public struct BuildError: Error, Hashable, CustomStringConvertible {
  /// The source as it was given on the command line.
  public let source: String
  /// What went wrong, in a clause for a person.
  public let reason: String
  /// Whether a retry may mend it: the disk is full, the storage away.
  public let isTemporary: Bool

  /// An error about a source.
  ///
  /// - Parameters:
  ///   - source: as it was given on the command line.
  ///   - reason: what went wrong, in a clause for a person.
  ///   - isTemporary: whether a retry may mend it.
  public init(_ source: String, _ reason: String, isTemporary: Bool = false) {
    (self.source, self.reason, self.isTemporary) = (source, reason, isTemporary)
  }

  init(_ source: String, _ error: any Error) {
    switch error {
    case let error as BuildError: self = error
    case let error as StorageError:
      self.init(source, error.description, isTemporary: error.isTemporary)
    case let error as ImagingError: self.init(source, error.message)
    default: self.init(source, String(describing: error))
    }
  }

  /// Whether no other picture would fare better: there is no room where archives are written.
  package var isOfFullDisk: Bool {
    // A cell tells its reasons in words.
    isTemporary && [ENOSPC, EDQUOT].contains { reason.contains(StorageError("", errno: $0).reason) }
  }

  /// The source and the reason, in one line.
  public var description: String { "\(source): \(reason)" }
}
