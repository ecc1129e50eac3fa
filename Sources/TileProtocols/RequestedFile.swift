/// A protocol that presents an image as files: one document, and tiles by their names.
package protocol FileProtocol: TileProtocol {
  associatedtype Tile: Sendable
  var file: RequestedFile<Tile> { get }
}

extension FileProtocol {
  package var id: Range<Int> { file.id }
  package var format: PictureFormat? { file.format }
}

/// The file that a request of a protocol with files asks for.
package struct RequestedFile<Tile: Sendable>: Sendable {
  private enum Kind: Sendable {
    case document
    case tile(Tile)
    /// A path in the folder of the tiles that is not a tile's name.
    case misnamed
    case nothing
  }

  private let kind: Kind
  /// The range of the image's id in the path.
  let id: Range<Int>
  /// The format of the tile's file name extension; nil if no format has the extension, or if the request is for no
  /// tile.
  let format: PictureFormat?

  private init(_ kind: Kind, _ id: Range<Int>, _ format: PictureFormat? = nil) {
    self.kind = kind
    self.id = id
    self.format = format
  }

  static func document(ofID id: Range<Int>) -> Self { Self(.document, id) }

  /// Returns a request for a path without a file.
  static func nothing(at start: Int) -> Self { Self(.nothing, start..<start) }

  /// - Parameters:
  ///   - start: the first byte of the tile's name, which ends at `end`.
  ///   - read: reads the name up to the file name extension.
  // Inlined, so that no call goes through the closure.
  @inline(__always)
  static func tile(
    ofID id: Range<Int>, _ path: RawPath, from start: Int, to end: Int, _ read: (inout PathReader) -> Tile?
  ) -> Self {
    var reader = PathReader(path, from: start, to: end)
    guard let tile = read(&reader) else { return Self(.misnamed, id) }
    return Self(.tile(tile), id, PictureFormat(tileEnding: reader.rest))
  }

  /// The tile; nil if the path is not a tile's name.
  var tile: Tile? {
    guard case .tile(let tile) = kind else { return nil }
    return tile
  }

  /// - Parameters:
  ///   - hasMetadata: whether the document contains metadata that people edit.
  ///   - files: the name of the protocol's files in messages.
  func subject(hasMetadata: Bool, _ files: StaticString) -> TileSubject {
    switch kind {
    case .document: .document(hasMetadata: hasMetadata)
    case .tile, .misnamed: .tile
    case .nothing: .nothing("there is no \(files) file at this path")
    }
  }
}
