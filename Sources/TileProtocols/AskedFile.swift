/// A protocol that has an image as files: one document, and tiles by their names.
package protocol FileProtocol: TileProtocol {
  associatedtype Tile: Sendable
  var file: AskedFile<Tile> { get }
}

extension FileProtocol {
  package var id: Range<Int> { file.id }
  package var format: PictureFormat? { file.format }
}

/// What is asked for of a protocol that has files.
package struct AskedFile<Tile: Sendable>: Sendable {
  private enum Kind: Sendable {
    case document
    case tile(Tile)
    /// Where tiles are, but no tile's name.
    case misnamed
    case nothing
  }

  private let kind: Kind
  /// Where in the path the image's id stands.
  let id: Range<Int>
  /// What the tile is to be encoded in; nil for an ending that no format has, and of what is no tile.
  let format: PictureFormat?

  private init(_ kind: Kind, _ id: Range<Int>, _ format: PictureFormat? = nil) {
    self.kind = kind
    self.id = id
    self.format = format
  }

  static func document(ofID id: Range<Int>) -> Self { Self(.document, id) }

  /// No file's path.
  static func nothing(at start: Int) -> Self { Self(.nothing, start..<start) }

  /// - Parameters:
  ///   - start: where the tile's name begins, which goes on to `end`.
  ///   - read: reads it up to the file's ending.
  // Inlined, so that no call goes through the closure.
  @inline(__always)
  static func tile(
    ofID id: Range<Int>, _ path: RawPath, from start: Int, to end: Int, _ read: (inout PathReader) -> Tile?
  ) -> Self {
    var reader = PathReader(path, from: start, to: end)
    guard let tile = read(&reader) else { return Self(.misnamed, id) }
    return Self(.tile(tile), id, PictureFormat(tileEnding: reader.rest))
  }

  /// Nil for what has no tile's name.
  var tile: Tile? {
    guard case .tile(let tile) = kind else { return nil }
    return tile
  }

  /// - Parameters:
  ///   - hasWords: whether the document tells what people say of the image.
  ///   - files: what the protocol's files are called.
  func subject(hasWords: Bool, _ files: StaticString) -> TileSubject {
    switch kind {
    case .document: .document(hasWords: hasWords)
    case .tile, .misnamed: .tile
    case .nothing: .nothing("there is no \(files) file at this path")
    }
  }
}
