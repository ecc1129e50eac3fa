import Cells
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
  /// The time of the build that failed for this reason, if the image was not tried again since: seconds since 1970.
  package var knownSince: Int?
  /// Whether something else than the source may be the reason, so that a later build has to try it again.
  var mayBeOfMachine = false
  /// The system's error number if it was the system that refused, else 0.
  package private(set) var code: Int32 = 0

  /// An error about a source.
  ///
  /// - Parameters:
  ///   - source: as it was given on the command line.
  ///   - reason: what went wrong, in a clause for a person.
  ///   - isTemporary: whether a retry may mend it.
  public init(_ source: String, _ reason: String, isTemporary: Bool = false) {
    (self.source, self.reason, self.isTemporary) = (source, reason, isTemporary)
  }

  init(_ source: String, _ end: CellEnd) {
    let reason =
      end.isCrash ? DecoderMessage.crashed(end.description, path: source) : end.description
    self.init(source, reason, isTemporary: end.isTemporary)
    mayBeOfMachine = end.mayBeOfMachine
  }

  init(_ source: String, _ error: any Error) {
    switch error {
    case let error as BuildError: self = error
    case let error as StorageError:
      self.init(source, error.description, isTemporary: error.isTemporary)
      // An error of the library's folder does not name the source.
      mayBeOfMachine = !error.action.contains(source)
      code = error.code
    case let error as ImagingError: self.init(source, error.reason(forFileAt: source))
    default: self.init(source, String(describing: error))
    }
  }

  /// Returns the same error about a source, with words in front of its reason.
  func about(_ source: String, _ words: String) -> BuildError {
    var error = BuildError(source, words + reason, isTemporary: isTemporary)
    (error.knownSince, error.mayBeOfMachine, error.code) = (knownSince, mayBeOfMachine, code)
    return error
  }

  /// Whether no other picture would fare better: there is no room where archives are written.
  package var isOfFullDisk: Bool {
    // A cell tells its reasons in words.
    isTemporary
      && (hasNoInodes || [ENOSPC, EDQUOT].contains { reason.contains(StorageError("", errno: $0).reason) })
  }

  /// Whether the disk has room for bytes, and none for another file.
  package var hasNoInodes: Bool { reason.contains(StorageError.noInodes) }

  /// Whether an image got the id meanwhile that this one was to have.
  package var isOfTakenID: Bool { code == EEXIST }

  /// The source and the reason, in one line. A full disk is not the source's: the reason comes first and names the disk.
  public var description: String {
    isOfFullDisk ? "\(reason) (source \(source))" : "\(source): \(reason)"
  }
}
