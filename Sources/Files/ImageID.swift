import Glibc

/// The name of an image, or of a book whose pages are images, in a library or a private space: the path of its archive
/// below the library's folder, without its ending.
///
/// Each part between slashes is a valid file name: not empty, `.` or `..`, and without NUL. A path that is made of an
/// id therefore stays in the library, even if the text is untrusted. Two ids are equal if their bytes are, as with file
/// names: `String` compares a composed é equal to a decomposed one, which is another file. Ids have the order
/// `NaturalOrder`, as in the catalog.
package struct ImageID: Sendable {
  package let text: String

  /// Creates an id. The result is nil if the text is not a valid id.
  package init?(_ text: String) {
    guard Self.isSound(text) else { return nil }
    self.init(sound: text)
  }

  private init(sound text: String) { self.text = text }

  /// Creates the id of an archive from its path, which has an ending of four bytes. The result is nil if it has none.
  package init?(archive path: String, below folder: String) {
    let below = path.utf8.dropFirst(folder.utf8.count + 1)
    guard let text = String(below.dropLast(4)) else { return nil }
    self.init(text)
  }

  private static let slash = UInt8(ascii: "/")
  private static let dot = UInt8(ascii: ".")

  private static func isSound(_ text: String) -> Bool {
    var (length, dots) = (0, 0)
    for byte in text.utf8 {
      switch byte {
      case 0: return false
      case slash:
        guard isName(length, dots) else { return false }
        length = 0
        dots = 0
      default:
        length += 1
        if byte == dot { dots += 1 }
      }
    }
    return isName(length, dots)
  }

  private static func isName(_ length: Int, _ dots: Int) -> Bool { length > 2 || dots < length }

  /// The last part, which is the image's file name without an ending.
  package var name: String { lastSlash.map { String(text[text.utf8.index(after: $0)...]) } ?? text }

  /// All parts but the last: the folder, or the book of a page; nil for an image in the library's own folder.
  package var folder: ImageID? { lastSlash.map { ImageID(sound: String(text[..<$0])) } }

  private var lastSlash: String.Index? { text.utf8.lastIndex(of: Self.slash) }

  /// Returns the id without so many bytes at its end; nil if no valid id remains.
  package func dropping(_ count: Int) -> ImageID? { String(text.utf8.dropLast(count)).flatMap(ImageID.init) }

  /// Returns the id of a book's page.
  package func page(_ number: Int) -> ImageID { ImageID(sound: "\(text)/\(number)") }

  /// Whether no library shows an image of the id: it has a part that begins with a dot, is the text of a reference to a
  /// private image, or could have a folder in the place of the catalog's files.
  package var isHidden: Bool {
    ImageReference.parts(of: text).repository == .space || CatalogFile.isReserved(text)
      || text.utf8.split(separator: Self.slash).contains { $0.first == Self.dot }
  }

  /// Whether a name is one that the archive of an image may have. In a folder of that name no image can lie beside that
  /// image.
  package static func isArchiveName(_ name: some StringProtocol) -> Bool {
    [".szi", ".dzi", ".zip"].contains { name.utf8.count > $0.utf8.count && name.hasSuffix($0) }
  }

  /// The first folder on its path with the name of an archive; nil if there is none.
  package var archiveFolder: ImageID? {
    // By numbers, since a build asks for each of its sources: the last four bytes of a name.
    let endings: [UInt32] = [0x2e73_7a69, 0x2e64_7a69, 0x2e7a_6970]
    var (length, last): (Int, UInt32) = (0, 0)
    for (at, byte) in text.utf8.enumerated() {
      guard byte == Self.slash else {
        length += 1
        last = last << 8 | UInt32(byte)
        continue
      }
      if length > 4, endings.contains(last) { return dropping(text.utf8.count - at) }
      length = 0
    }
    return nil
  }

  /// Whether the image is in the folder, at any depth.
  package func isBelow(_ folder: ImageID) -> Bool {
    let rest = text.utf8.dropFirst(folder.text.utf8.count)
    return rest.first == Self.slash && text.utf8.starts(with: folder.text.utf8)
  }

  /// Returns the path of the image's archive in a library's folder.
  package func archive(in library: String) -> String { "\(library)/\(text).szi" }

  /// Calls `body` with the UTF-8 of the id.
  package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    // No string comes from elsewhere here than from UTF-8.
    text.utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }!
  }

  /// Whether the id comes after a text, which need not be an id, in the natural order.
  package func follows(_ text: String) -> Bool { NaturalOrder.precedes(text, self.text) }
}

extension ImageID: Hashable, Comparable {
  package static func == (one: ImageID, other: ImageID) -> Bool {
    one.withBytes { one in
      other.withBytes { one.count == $0.count && memcmp(one.baseAddress!, $0.baseAddress!, one.count) == 0 }
    }
  }

  package static func < (one: ImageID, other: ImageID) -> Bool {
    one.withBytes { one in other.withBytes { NaturalOrder.compare(one, $0) < 0 } }
  }

  package func hash(into hasher: inout Hasher) { withBytes { hasher.combine(bytes: $0) } }
}

extension ImageID: CustomStringConvertible {
  package var description: String { text }
}

/// A string in whatever is written.
extension ImageID: Codable {
  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    guard let id = ImageID(try container.decode(String.self)) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "no image's id")
    }
    self = id
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(text)
  }
}
