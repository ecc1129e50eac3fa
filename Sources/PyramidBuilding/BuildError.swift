import Glibc
import TileStorage
package import ZigguratFiles
import ZigguratImaging
import ZigguratSandbox

/// An error of building an archive. The archive was not written, and an older one at its path stays as it was.
///
/// A program decides by `kind` and shows `description`. No function of this module traps on a wrong argument.
public struct BuildError: Error, Hashable, CustomStringConvertible {
  /// A class of errors that programs handle in the same way.
  @nonexhaustive
  public enum Kind: Hashable, Sendable {
    /// An option, a name, or the size of a `PixelSource` is outside its documented range.
    case invalidArgument
    /// The task that awaited the build was cancelled.
    case cancelled
    /// The source file does not exist.
    case sourceNotFound
    /// The source is damaged, has no supported format, or this process may not read it.
    case unreadableSource
    /// The archive's folder does not exist or denies access.
    case unwritableArchive
    /// The disk or the quota is full.
    case diskFull
    /// Memory, file descriptors or the storage itself are unavailable at present. A retry may succeed.
    case unavailable
  }

  /// The class of the error.
  public let kind: Kind
  /// The source: its path, or the name of an archive that was built from a `PixelSource`.
  public let source: String
  /// The cause, as a clause for a person that does not name the source.
  public let reason: String
  /// The time of the build that failed for this reason, if the image was not tried again since: seconds since 1970.
  package var knownSince: Int?
  /// The path of the source that owns the image, if that source does not exist but its disk may not be mounted.
  package var absentOwner: String?
  /// Whether the reason may be something other than the source, so that a later build must try again.
  var mayBeOfMachine = false
  /// The system's error number if a system call failed, otherwise 0.
  package private(set) var code: Int32 = 0

  /// - Parameters:
  ///   - source: the source as given on the command line.
  ///   - reason: the cause, as a clause for a person.
  package init(_ source: String, _ reason: String, _ kind: Kind) {
    self.source = source
    self.reason = reason
    self.kind = kind
  }

  /// An error about a source.
  ///
  /// - Parameters:
  ///   - source: the source as given on the command line.
  ///   - reason: the cause, as a clause for a person.
  ///   - isTemporary: whether a retry may succeed.
  package init(_ source: String, _ reason: String, isTemporary: Bool = false) {
    self.init(source, reason, isTemporary ? .unavailable : .unreadableSource)
  }

  init(_ source: String, _ end: TerminationReason) {
    let reason =
      end.isCrash ? DecoderMessage.crashed(end.description, path: source) : end.description
    self.init(source, reason, isTemporary: end.isTemporary)
    mayBeOfMachine = end.mayBeOfMachine
  }

  package init(_ source: String, _ error: any Error) {
    switch error {
    case let error as BuildError: self = error
    case let error as StorageError:
      self.init(source, error.description, Kind(error, isOfSource: error.action.contains(source)))
      // An error of the library's folder does not name the source.
      mayBeOfMachine = !error.action.contains(source)
      code = error.code
    case let error as ImagingError: self.init(source, error.reason(forFileAt: source))
    case is CancellationError: self = .interrupted
    default: self.init(source, String(describing: error))
    }
  }

  /// Returns the same error about a source, with another reason.
  func about(_ source: String, _ reason: String) -> BuildError {
    var error = BuildError(source, reason, kind)
    error.knownSince = knownSince
    error.absentOwner = absentOwner
    error.mayBeOfMachine = mayBeOfMachine
    error.code = code
    return error
  }

  /// Whether a retry may succeed without a change of the source or the options.
  public var isTemporary: Bool { kind == .diskFull || kind == .unavailable }

  /// Whether the disk has free bytes but no free inodes.
  package var hasNoInodes: Bool { reason.contains(StorageError.noInodes) }

  /// Whether another image got the intended id in the meantime.
  package var isOfTakenID: Bool { code == EEXIST }

  /// The source and the reason, in one line. If the disk is full, the reason comes first and names the disk.
  public var description: String {
    kind == .diskFull ? "\(reason) (source \(source))" : "\(source): \(reason)"
  }

  package static let interrupted = BuildError("build", "interrupted", .cancelled)
}

extension BuildError.Kind {
  /// - Parameter isOfSource: whether the error is about reading the source, not writing the archive.
  package init(_ error: StorageError, isOfSource: Bool) {
    switch error.kind {
    case .unreachable: self = error.isOfFullDisk ? .diskFull : .unavailable
    case .notFound: self = isOfSource ? .sourceNotFound : .unwritableArchive
    case .unreadable: self = isOfSource ? .unreadableSource : .unwritableArchive
    }
  }

  /// The kinds that a sandboxed process may report, by their names in its messages. It cannot report a cancellation.
  private static let reported: [String: Self] = [
    "argument": .invalidArgument, "not-found": .sourceNotFound, "unreadable": .unreadableSource,
    "unwritable": .unwritableArchive, "full": .diskFull, "unavailable": .unavailable,
  ]

  /// - Parameter name: a name in a message; any unknown name means `unreadableSource`.
  init(reported name: String) { self = Self.reported[name] ?? .unreadableSource }

  /// The kind's name in a message.
  var reportedName: String { Self.reported.first { $0.value == self }?.key ?? "unreadable" }
}
