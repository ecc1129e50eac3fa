package import TileStorage
package import ZigguratFiles

/// A source of images that are not plain files in a library's folders.
package protocol LibrarySource: Sendable {
  /// Returns a number that changes whenever an image is added, replaced or removed.
  func version() throws(StorageError) -> Int

  func images() throws(StorageError) -> [SourceImage]

  /// The metrics of the source.
  var figures: [SourceFigure] { get }

  /// The outage that hides changes of the images; nil if there is none.
  var outage: SourceOutage? { get }

  /// Whether the folder of the images exists.
  var isReachable: Bool { get }
}

extension LibrarySource {
  package var isReachable: Bool { true }
  package var figures: [SourceFigure] { [] }
  package var outage: SourceOutage? { nil }
}

/// A period in which a library's source cannot be read, so that changes are not seen.
package struct SourceOutage: Sendable {
  /// The summary for everybody: "the object store has not been read for 12 s".
  package let summary: String
  /// The reason, for administrators.
  package let reason: String

  package init(_ source: String, seconds: Int, reason: String) {
    summary = "\(source) has not been read for \(seconds) s"
    self.reason = reason
  }
}

/// A metric of a source.
package struct SourceFigure: Sendable {
  /// The name of the metric, without the program's name.
  package let name: String
  /// The description of the metric, a sentence.
  package let help: String
  package let value: Int
  /// Whether the value only grows while the server runs.
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

  /// The metadata that a user wrote about the image.
  package struct SidecarReader: Sendable {
    let path: String
    let read: @Sendable () -> [UInt8]?

    /// - Parameters:
    ///   - path: the path of a file that changes with the metadata.
    ///   - read: returns the XMP; nil if it cannot be read.
    package init(path: String, read: @escaping @Sendable () -> [UInt8]?) {
      self.path = path
      self.read = read
    }
  }

  /// - Parameters:
  ///   - path: the path of a file that changes with the image.
  ///   - identity: the identity of the image's version, if there is no such file.
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
