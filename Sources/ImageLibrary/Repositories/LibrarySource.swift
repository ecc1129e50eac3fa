package import TileStorage
package import ZigguratFiles

/// Images that do not lie open in a library's folders.
package protocol LibrarySource: Sendable {
  /// Differs whenever an image was added, replaced or removed.
  func version() throws(StorageError) -> Int

  func images() throws(StorageError) -> [SourceImage]

  /// The metrics of the source.
  var figures: [SourceFigure] { get }

  /// Since when changes are not seen; nil while they are.
  var outage: SourceOutage? { get }

  /// Whether the folder of the images is there.
  var isReachable: Bool { get }
}

extension LibrarySource {
  package var isReachable: Bool { true }
  package var figures: [SourceFigure] { [] }
  package var outage: SourceOutage? { nil }
}

/// A time in which the source of a library's images cannot be read, so that what has changed is not seen.
package struct SourceOutage: Sendable {
  /// For everybody: "the object store has not been read for 12 s".
  package let summary: String
  /// For administrators.
  package let reason: String

  package init(_ source: String, seconds: Int, reason: String) {
    summary = "\(source) has not been read for \(seconds) s"
    self.reason = reason
  }
}

/// One number that tells how it goes.
package struct SourceFigure: Sendable {
  /// As monitors call it, behind the program's own name.
  package let name: String
  /// A sentence.
  package let help: String
  package let value: Int
  /// Whether it only grows, as long as the server runs.
  package let isTotal: Bool

  package init(_ name: String, _ help: String, _ value: Int, isTotal: Bool) {
    self.name = name
    self.help = help
    self.value = value
    self.isTotal = isTotal
  }
}

/// One image of a source.
package struct SourceImage: Sendable {
  package let id: ImageID
  package let path: String
  /// The identity of its version; nil if that is the identity of the file at the path.
  package let identity: FileIdentity?
  package let open: @Sendable () throws(StorageError) -> TileArchive
  package let sidecar: SidecarReader?

  /// The metadata that somebody wrote about the image.
  package struct SidecarReader: Sendable {
    let path: String
    let read: @Sendable () -> [UInt8]?

    /// - Parameters:
    ///   - path: of the file that is another one when they have changed.
    ///   - read: the XMP; nil where it cannot be read.
    package init(path: String, read: @escaping @Sendable () -> [UInt8]?) {
      self.path = path
      self.read = read
    }
  }

  /// - Parameters:
  ///   - path: of the file that is another one when the image was replaced.
  ///   - identity: where there is no such file.
  package init(
    id: ImageID, path: String, identity: FileIdentity? = nil, sidecar: SidecarReader? = nil,
    open: @escaping @Sendable () throws(StorageError) -> TileArchive
  ) {
    self.id = id
    self.path = path
    self.identity = identity
    self.sidecar = sidecar
    self.open = open
  }
}
