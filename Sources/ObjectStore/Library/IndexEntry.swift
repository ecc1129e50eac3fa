import TileGeometry
import TileStorage
import ZigguratFiles
import ZigguratHTTPMessages

/// One line of a segment of a library's index: fields separated by tabs. The first field is the type of the line.
///
/// Ids are percent-encoded. The JSON has neither tabs nor line ends in it.
enum IndexEntry {
  case image(ImageID, ListedRecord)
  /// The image is no longer in the library.
  case gone(ImageID)
  /// The source root of the image.
  case origin(ImageID, String)
  /// Another segment, whose lines are all in this one. The name may be invalid, because an earlier version of the
  /// program could take a stray object for a segment.
  case holds(String)

  /// Returns the line of an image, with its end.
  static func text(
    image id: ImageID, _ record: ListedRecord, build: some Collection<UInt8>, metadata: some Collection<UInt8>
  ) -> [UInt8] {
    let (size, digest) = (record.pyramid.imageSize, SHA256.hexadecimal(record.digest))
    let generation = String(record.generation, radix: 16)
    let head = [
      "image", PercentEncoding.encode(id.text), digest, record.etag, "\(record.byteCount)", generation,
      "\(size.width)", "\(size.height)", "\(record.pyramid.tileSize)", record.format.fileExtension,
    ]
    return Array((head.joined(separator: "\t") + "\t").utf8) + build + [tab] + metadata + [end]
  }

  static func text(gone id: ImageID) -> [UInt8] { Array("gone\t\(PercentEncoding.encode(id.text))\n".utf8) }

  static func text(origin id: ImageID, _ root: String) -> [UInt8] {
    Array("origin\t\(PercentEncoding.encode(id.text))\t\(root)\n".utf8)
  }

  static func text(holds segment: String) -> [UInt8] { Array("holds\t\(segment)\n".utf8) }

  /// Parses a line; nil if the bytes are not a valid line.
  /// - Parameters:
  ///   - line: the line without its end.
  ///   - text: the text of the segment. Records stay in it until they are needed.
  ///   - start: the position of the line in the text.
  init?(_ line: UnsafeRawBufferPointer, of text: SegmentText, at start: Int) {
    let fields = line.split(separator: Self.tab, omittingEmptySubsequences: false)
    func field(_ number: Int) -> String? {
      fields.indices.contains(number) ? String(validating: fields[number], as: UTF8.self) : nil
    }
    func id() -> ImageID? {
      guard fields.count > 1 else { return nil }
      // A hidden id, such as that of a private image, is invalid here.
      let text = PercentEncoding.decodedString(UnsafeRawBufferPointer(rebasing: fields[1]))
      return text.flatMap(ImageID.init).flatMap { $0.isHidden ? nil : $0 }
    }
    switch (field(0), fields.count) {
    case ("image", 12):
      guard let id = id(), let digest = field(2).flatMap(Self.digest), let etag = field(3),
        ResponseHead.isTag(etag),
        let count = field(4).flatMap({ Int($0) }), count > 0,
        let generation = field(5).flatMap({ UInt64($0, radix: 16) }),
        let width = field(6).flatMap({ Int($0) }), let height = field(7).flatMap({ Int($0) }),
        let size = PixelSize(width: width, height: height), let tile = field(8).flatMap({ Int($0) }),
        let pyramid = Pyramid(imageSize: size, tileSize: tile),
        let format = field(9).flatMap(TileFormat.init(fileExtension:))
      else { return nil }
      func place(_ number: Int) -> Range<Int> {
        start + fields[number].startIndex..<start + fields[number].endIndex
      }
      self = .image(
        id,
        ListedRecord(
          digest: digest, etag: etag, byteCount: count, generation: generation, pyramid: pyramid,
          format: format, text: text, build: place(10), metadata: place(11)))
    case ("gone", 2):
      guard let id = id() else { return nil }
      self = .gone(id)
    case ("origin", 3):
      guard let id = id(), let root = field(2), root.utf8.count == 16 else { return nil }
      self = .origin(id, root)
    // Any name, even with tabs: the digest of the segment shows that a builder wrote it.
    case ("holds", 2...):
      self = .holds(String(decoding: line.dropFirst("holds\t".utf8.count), as: UTF8.self))
    default: return nil
    }
  }

  /// Whether a line with its end can be parsed again.
  static func isReadable(_ line: [UInt8]) -> Bool {
    guard line.count <= IndexSegment.maxLineLength, line.last == end else { return false }
    return line.dropLast().withUnsafeBytes {
      !$0.contains(end) && IndexEntry($0, of: .nothing, at: 0) != nil
    }
  }

  private static let tab = UInt8(ascii: "\t")
  /// The end of each line.
  static let end = UInt8(ascii: "\n")

  static func digest(_ text: String) -> [UInt8]? {
    let bytes = Array(text.utf8)
    guard bytes.count == 64 else { return nil }
    var digest: [UInt8] = []
    for at in stride(from: 0, to: 64, by: 2) {
      guard let high = PercentEncoding.hexDigit(bytes[at]), let low = PercentEncoding.hexDigit(bytes[at + 1])
      else { return nil }
      digest.append(high << 4 | low)
    }
    return digest
  }
}

/// The record of one image in an index. It is a class, because many copies of a large index share it.
final class ListedRecord: Sendable {
  /// The SHA-256 of its archive, which is part of the object's key.
  let digest: [UInt8]
  let etag: String
  let byteCount: Int
  let generation: UInt64
  let pyramid: Pyramid
  let format: TileFormat
  /// The text that contains the image's records.
  let text: SegmentText
  let build: Range<Int>
  let metadata: Range<Int>

  init(
    digest: [UInt8], etag: String, byteCount: Int, generation: UInt64, pyramid: Pyramid, format: TileFormat,
    text: SegmentText = .nothing, build: Range<Int> = 0..<0, metadata: Range<Int> = 0..<0
  ) {
    self.digest = digest
    self.etag = etag
    self.byteCount = byteCount
    self.generation = generation
    self.pyramid = pyramid
    self.format = format
    self.text = text
    self.build = build
    self.metadata = metadata
  }

  /// Whether another record is equal, byte for byte.
  func isSame(as other: ListedRecord) -> Bool {
    digest == other.digest && etag == other.etag && byteCount == other.byteCount
      && generation == other.generation && pyramid == other.pyramid && format == other.format
      && text.bytes(build) == other.text.bytes(other.build)
      && text.bytes(metadata) == other.text.bytes(other.metadata)
  }

  /// Returns an entry of the archive, by its name below the root folder; nil if the index does not contain it.
  @Sendable func entry(_ relativeName: String) -> [UInt8]? {
    switch relativeName {
    case BuildRecord.entryName: text.bytes(build)
    case ImageMetadata.entryName: text.bytes(metadata)
    default: nil
    }
  }

  /// The folder of archives, after the library's prefix.
  static let folder = "szi/"

  /// Whether a key in `folder` belongs to an archive, not to a stray object.
  /// - Parameter name: the key after `folder`.
  static func isName(_ name: some StringProtocol) -> Bool {
    let digest = name.dropFirst(3).prefix(64)
    return IndexEntry.digest(String(digest)) != nil
      && digest.utf8.allSatisfy { !(0x41...0x46).contains($0) }
      && name.utf8.elementsEqual("\(digest.prefix(2))/\(digest).szi".utf8)
  }

  /// Returns `szi/ab/<SHA-256>.szi` after the library's prefix. No other content overwrites this key.
  static func key(_ digest: [UInt8], below prefix: String) -> String {
    key(SHA256.hexadecimal(digest), below: prefix)
  }

  /// - Parameter digest: hexadecimal.
  static func key(_ digest: String, below prefix: String) -> String {
    "\(prefix)\(folder)\(digest.prefix(2))/\(digest).szi"
  }
}
