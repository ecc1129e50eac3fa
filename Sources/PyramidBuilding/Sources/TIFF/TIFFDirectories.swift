import Foundation
import Synchronization
import TileStorage
import ZigguratFiles

/// A parser of the directories (IFDs) of a TIFF or BigTIFF file, which describe its images (TIFF 6.0, section 2; tags
/// of TIFF/EP, DNG and slide scanners).
///
/// This is own code instead of libtiff, because the process that starts builds uses it, too. It reads no pixels and is
/// safe for untrusted files.
struct TIFFDirectories: Sendable {
  struct Directory: Sendable {
    /// Its place in the file, and that of its link to the next one.
    fileprivate(set) var (offset, linkOffset) = (0, 0)
    fileprivate(set) var width = 0
    fileprivate(set) var height = 0
    /// `NewSubfileType`: 1 a reduced copy, 2 a page, 4 a mask.
    fileprivate(set) var subfileType = 0
    /// Whether `PageNumber` says that it is a page of a document.
    fileprivate(set) var hasPageNumber = false
    fileprivate(set) var photometric: Int?
    fileprivate(set) var samples = 1
    /// Bits of the first sample.
    fileprivate(set) var bits = 1
    /// Whether the first sample is a floating-point number.
    fileprivate(set) var isFloatingPoint = false
    /// The first string of the description.
    fileprivate(set) var description = ""
    /// All strings of descriptions, a line each: a field may hold several (TIFF 6.0, section 2), and programs that
    /// append one may repeat the tag.
    fileprivate(set) var descriptions = ""
    fileprivate(set) var pageNames: [String] = []
    fileprivate(set) var documentNames: [String] = []
    /// Whether a description or a name could not be read, or exceeds the maximum length.
    fileprivate(set) var hasUnreadText = false
    /// Whether it has XMP or IPTC.
    fileprivate(set) var hasPacket = false
    /// Whether Photoshop's layers are beside the picture.
    fileprivate(set) var hasLayers = false
    /// Pixels for each unit, across and down.
    fileprivate(set) var resolution: (x: Double, y: Double)?
    /// 1 none, 2 inch, 3 centimetre; nil if the file does not say.
    fileprivate(set) var resolutionUnit: Int?
    /// Hamamatsu's magnification; −1 for the macro, −2 for a map of the slide.
    fileprivate(set) var sourceLens: Double?
    fileprivate(set) var hasDNGVersion = false
    /// ImageJ's own tags: the sizes of the parts of the second, and that; of the file's first picture alone.
    fileprivate(set) var imageJCounts: [Int] = []
    fileprivate(set) var imageJData: [UInt8] = []
    /// Whether one of Ventana's scanners wrote it.
    fileprivate(set) var isVentanas = false
    /// A pattern of colour filters before the sensor.
    fileprivate(set) var hasFilterPattern = false
    /// EXIF orientation, 1…8.
    fileprivate(set) var orientation = 1
    /// The place of the one JPEG that the picture consists of; nil for any other picture.
    fileprivate(set) var jpeg: Range<Int>?
    /// The place of the picture's only strip; `nil` if it has several, or tiles.
    fileprivate(set) var strip: Range<Int>?
    /// The directories that `SubIFDs` lists.
    fileprivate(set) var parts: [Directory] = []

    /// Samples of a camera's sensor (TIFF/EP), or DNG's linear ones.
    var isSensors: Bool {
      [32803, 34892].contains(photometric) || hasFilterPattern && samples == 1
    }

    var area: Int { width.multipliedReportingOverflow(by: height).partialValue }
    /// Whether a page that libtiff does not find may be decoded by itself, or has to be reported.
    var mayBePage: Bool { width > 0 || height > 0 }
    /// A smaller copy of another picture, or the mask of one.
    var isReduced: Bool { subfileType & 1 != 0 }
    var isMask: Bool { subfileType & 4 != 0 }
    /// Whether its tags call it a page of a document.
    var isCalledPage: Bool { subfileType & 2 != 0 || hasPageNumber }
    /// Its rank among directories without a page: a mask comes last.
    var rank: (Int, Int) { (isMask ? 0 : 1, area) }
  }

  /// In the file's order; those behind a damaged one are missing.
  private(set) var all: [Directory] = []
  /// A directory, or a value of a page, that the file refers to but does not contain; `nil` if there is none.
  private(set) var damage: SourceDamage?
  /// Whether the file may have more directories, which were not read because there are so many.
  private(set) var isCutShort = false

  let reader: PositionalReader
  let order: ByteOrder
  let isBig: Bool
  private var seen: Set<Int> = []
  /// Entries and bytes of their values that may yet be read, in the whole file: directories may list each other, lie
  /// one over the other, and have the same value.
  private var (entriesLeft, bytesLeft) = (maxFileEntries, 64 << 20)
  /// Bytes of text that may yet come.
  private var textLeft = 32 << 20

  /// Twenty for each of the most directories.
  static let maxFileEntries = 2_000_000
  static let maxDirectories = 100_000
  static let maxEntries = 4096
  private static let maxParts = 64
  private static let maxImageJParts = 1 << 20
  private static let maxTextLength = 16 << 20

  /// `nil` if the file is no TIFF.
  ///
  /// - Parameter most: how many directories are read.
  init?(_ file: SourceFile, most: Int = maxDirectories) {
    reader = file.reader
    guard let head = reader.bytes(0, 8), let order = TIFFEntry.order(head) else { return nil }
    self.order = order
    let version = order.number(head, at: 2, 2)
    guard version == 42 || version == 43 else { return nil }
    isBig = version == 43
    guard var next = (isBig ? reader.bytes(8, 8) : Array(head[4..<8])).map(order.number) else { return nil }
    while next != 0, all.count < most, let found = read(at: next, depth: 0) {
      all.append(found.directory)
      next = found.next
    }
    if next != 0, all.count == most { isCutShort = true }
  }

  /// `nil` if there is no directory, or it was read before.
  private mutating func read(at offset: Int, depth: Int) -> (directory: Directory, next: Int)? {
    let (countSize, linkSize, entrySize) = (isBig ? 8 : 2, isBig ? 8 : 4, TIFFEntry.byteCount(isBig: isBig))
    guard seen.insert(offset).inserted else { return nil }
    let place =
      depth > 0 ? "a directory that page \(all.count + 1) lists" : "the directory of page \(all.count + 1)"
    guard let head = reader.bytes(offset, countSize) else {
      noteMissing(place, depth, offset, countSize)
      return nil
    }
    let count = order.number(head)
    guard 1...Self.maxEntries ~= count else {
      noteMissing(place, depth, offset, countSize)
      return nil
    }
    guard count <= entriesLeft else {
      isCutShort = true
      return nil
    }
    guard let bytes = reader.bytes(offset + countSize, count * entrySize) else {
      noteMissing(place, depth, offset, countSize + count * entrySize)
      return nil
    }
    entriesLeft -= count
    // A tag stands once in a directory; of several the first counts, as for libtiff, but for texts.
    var tags: Set<Int> = []
    var directory = Directory()
    directory.offset = offset
    directory.linkOffset = offset + countSize + count * entrySize
    var parts: [Int] = []
    var descriptions: [String] = []
    var oldType = 0
    var compression: Int?
    // Of a single strip, and of JPEG's first manner.
    var strip: (start: Int?, count: Int?) = (nil, nil)
    var interchange: (start: Int?, count: Int?) = (nil, nil)
    var (x, y): (Double?, Double?)
    for entry in TIFFEntry.all(in: bytes, order, isBig: isBig) {
      guard tags.insert(entry.tag).inserted || Self.textTags.contains(entry.tag) else { continue }
      if depth == 0 { check(entry) }
      if Self.packetTags.contains(entry.tag) { directory.hasPacket = true }
      switch entry.tag {
      case 254: directory.subfileType = numbers(entry).first ?? 0
      case 255: oldType = numbers(entry).first ?? 0
      case 256: directory.width = numbers(entry).first ?? 0
      case 257: directory.height = numbers(entry).first ?? 0
      case 258: directory.bits = numbers(entry).first ?? 1
      case 259: compression = numbers(entry).first
      case 262: directory.photometric = numbers(entry).first
      case 269: directory.documentNames += texts(entry, &directory.hasUnreadText)
      case 270: descriptions += texts(entry, &directory.hasUnreadText)
      case 273 where entry.count == 1: strip.start = numbers(entry).first
      case 274: directory.orientation = numbers(entry).first.flatMap { 1...8 ~= $0 ? $0 : nil } ?? 1
      case 277: directory.samples = numbers(entry).first ?? 1
      case 279 where entry.count == 1: strip.count = numbers(entry).first
      case 282: x = real(entry)
      case 283: y = real(entry)
      case 285: directory.pageNames += texts(entry, &directory.hasUnreadText)
      case 296: directory.resolutionUnit = numbers(entry).first
      case 297: directory.hasPageNumber = true
      case 330: parts = numbers(entry, most: Self.maxParts)
      case 339: directory.isFloatingPoint = numbers(entry).first == 3
      case 513: interchange.start = numbers(entry).first
      case 514: interchange.count = numbers(entry).first
      case 700 where all.count < 3 && depth == 0:
        directory.isVentanas = self.bytes(entry, most: 1 << 16)?.firstRange(of: Array("<iScan".utf8)) != nil
      case 33421, 33422: directory.hasFilterPattern = true
      case 37724: directory.hasLayers = true
      case 50706: directory.hasDNGVersion = true
      case 50838 where all.isEmpty && depth == 0:
        directory.imageJCounts = numbers(entry, most: Self.maxImageJParts)
      case 50839 where all.isEmpty && depth == 0:
        directory.imageJData = self.bytes(entry, most: Self.maxTextLength) ?? []
      case 65421: directory.sourceLens = real(entry)
      default: break
      }
    }
    directory.description = descriptions.first ?? ""
    directory.descriptions = descriptions.joined(separator: "\n")
    // Written as a number without a sign.
    if let lens = directory.sourceLens, lens >= 2_147_483_648 { directory.sourceLens = lens - 4_294_967_296 }
    let jpeg =
      interchange.start == nil && [6, 7].contains(compression) ? strip : interchange
    if let start = jpeg.start, let count = jpeg.count, count > 0, start <= reader.size - count {
      directory.jpeg = start..<start + count
    }
    if let start = strip.start, let count = strip.count, count > 0, start <= .max - count {
      directory.strip = start..<start + count
    }
    // The older tag says the same with other numbers.
    if directory.subfileType == 0, oldType == 2 { directory.subfileType = 1 }
    if let x { directory.resolution = (x, y ?? x) }
    if depth < 2 {
      for part in parts {
        if let found = read(at: part, depth: depth + 1) { directory.parts.append(found.directory) }
      }
    }
    let link = reader.bytes(directory.linkOffset, linkSize)
    return (directory, link.map(order.number) ?? 0)
  }

  /// Records that a directory of at least so many bytes does not exist or makes no sense.
  private mutating func noteMissing(_ directory: String, _ depth: Int, _ offset: Int, _ count: Int) {
    guard damage == nil else { return }
    // Of a page's further directories, such as reduced copies, the page itself is read.
    let pages = all.count + (depth > 0 ? 1 : 0)
    let read = "\(pages) \(pages == 1 ? "page is" : "pages are") read"
    damage =
      offset > reader.size - count
      ? SourceDamage(.truncated, "the TIFF file is cut off: \(directory) lies behind its end; \(read)")
      : SourceDamage(.error, "the TIFF file is damaged: \(directory) cannot be read; \(read)")
  }

  /// Records a value behind the end of the file that the picture or its metadata need.
  private mutating func check(_ entry: TIFFEntry) {
    guard 254...532 ~= entry.tag || Self.furtherTags.contains(entry.tag), entry.count > 0,
      let size = TIFFEntry.sizes[entry.type]
    else { return }
    let (whole, isVast) = entry.count.multipliedReportingOverflow(by: size)
    guard isVast || whole > entry.inline.count else { return }
    let offset = order.number(entry.inline)
    guard damage == nil, isVast || offset > reader.size - whole else { return }
    damage = SourceDamage(
      .truncated,
      "the TIFF file is cut off: \(entry.tag == 270 ? "the description" : "a value") of page \(all.count + 1) "
        + "(tag \(entry.tag)) lies behind its end")
  }

  /// Tags beside those of TIFF 6.0 itself: XMP, copyright, IPTC, Photoshop's, ICC profile, ImageJ's.
  private static let furtherTags: Set = [700, 33432, 33723, 34377, 34675, 50838, 50839]

  /// `nil` if the file does not have the value, or more has been read of it than of any usual file.
  private mutating func bytes(_ entry: TIFFEntry, most: Int) -> [UInt8]? {
    guard let size = TIFFEntry.sizes[entry.type] else { return nil }
    let (length, overflow) = min(entry.count, most).multipliedReportingOverflow(by: size)
    guard !overflow, entry.count > 0 else { return nil }
    let (whole, isVast) = entry.count.multipliedReportingOverflow(by: size)
    if !isVast, whole <= entry.inline.count { return Array(entry.inline.prefix(length)) }
    guard length <= bytesLeft else { return nil }
    bytesLeft -= length
    return reader.bytes(order.number(entry.inline), length)
  }

  private mutating func numbers(_ entry: TIFFEntry, most: Int = 1) -> [Int] {
    guard [1, 3, 4, 13, 16, 18].contains(entry.type), let size = TIFFEntry.sizes[entry.type],
      let bytes = bytes(entry, most: most)
    else { return [] }
    return stride(from: 0, to: bytes.count, by: size).map { order.number(bytes, at: $0, size) }
  }

  /// A rational or floating-point number; nil for any other, and for one divided by 0.
  private mutating func real(_ entry: TIFFEntry) -> Double? {
    guard let bytes = bytes(entry, most: 1) else { return nil }
    func whole(_ range: Range<Int>) -> Int { order.number(bytes[range]) }
    switch entry.type {
    case 5 where whole(4..<8) != 0: return Double(whole(0..<4)) / Double(whole(4..<8))
    case 10 where whole(4..<8) != 0:
      return Double(Int32(truncatingIfNeeded: whole(0..<4))) / Double(Int32(truncatingIfNeeded: whole(4..<8)))
    case 8: return Double(Int16(truncatingIfNeeded: whole(0..<2)))
    case 9: return Double(Int32(truncatingIfNeeded: whole(0..<4)))
    case 3, 4: return Double(whole(0..<bytes.count))
    case 11: return Double(Float(bitPattern: UInt32(truncatingIfNeeded: whole(0..<4))))
    case 12:
      let bits = (order == .little ? bytes.reversed() : bytes).reduce(0 as UInt64) { $0 << 8 | UInt64($1) }
      return Double(bitPattern: bits)
    default: return nil
    }
  }

  /// `DocumentName`, `ImageDescription`, `PageName`.
  private static let textTags: Set<Int> = [269, 270, 285]

  /// Returns the strings of a field.
  ///
  /// - Parameter isUnread: set if a part of them could not be read.
  private mutating func texts(_ entry: TIFFEntry, _ isUnread: inout Bool) -> [String] {
    guard entry.count > 0 else { return [] }
    let most = min(textLeft, Self.maxTextLength)
    guard [1, 2, 6, 7, 129].contains(entry.type), let bytes = bytes(entry, most: most) else {
      isUnread = true
      return []
    }
    textLeft -= bytes.count
    if bytes.count < entry.count { isUnread = true }
    return Self.strings(bytes)
  }

  /// Returns the strings that are not empty: UTF-8, UTF-16 with a byte order mark or with Latin letters alone, or
  /// Latin-1.
  static func strings(_ bytes: [UInt8]) -> [String] {
    if let units = utf16(bytes) {
      return units.split(separator: 0).map { String(decoding: $0, as: UTF16.self) }
    }
    return bytes.split(separator: 0).map { text in
      let text = text.starts(with: [0xef, 0xbb, 0xbf]) ? text.dropFirst(3) : text
      // Programs of old write Latin-1, as the micron's sign.
      return String(validating: text, as: UTF8.self)
        ?? String(decoding: text.map(UInt16.init), as: UTF16.self)
    }
  }

  /// Returns the code units of UTF-16; nil if the bytes are other text.
  private static func utf16(_ bytes: [UInt8]) -> [UInt16]? {
    func units(_ bytes: ArraySlice<UInt8>, isLittle: Bool) -> [UInt16] {
      stride(from: bytes.startIndex, to: bytes.endIndex, by: 2).map { at in
        let (first, second) = (UInt16(bytes[at]), at + 1 < bytes.endIndex ? UInt16(bytes[at + 1]) : 0)
        return isLittle ? second << 8 | first : first << 8 | second
      }
    }
    if bytes.starts(with: [0xff, 0xfe]) { return units(bytes.dropFirst(2), isLittle: true) }
    if bytes.starts(with: [0xfe, 0xff]) { return units(bytes.dropFirst(2), isLittle: false) }
    // Without a mark: every other byte is 0, up to the end of the text.
    let end = (bytes.lastIndex { $0 != 0 } ?? -1) + 1
    guard end >= 3 else { return nil }
    let text = bytes[..<end]
    for isLittle in [true, false] {
      let isZero = { (at: Int) in at % 2 == (isLittle ? 1 : 0) }
      if text.indices.allSatisfy({ (text[$0] == 0) == isZero($0) }) { return units(text, isLittle: isLittle) }
    }
    return nil
  }
}

extension TIFFDirectories {
  /// The directories and those that they list.
  var everything: [Directory] { all + all.flatMap(\.parts) + all.flatMap(\.parts).flatMap(\.parts) }

  private static let last = Mutex<(file: SourceFile, directories: TIFFDirectories)?>(nil)

  /// Returns the directories of a file, which are remembered of the last one until it is written to: its pages are
  /// built one after the other.
  static func remembered(path: String) -> (file: SourceFile, directories: TIFFDirectories)? {
    if let known = last.withLock({ $0 }), known.file.path == path,
      FileIdentity(path: path) == known.file.identity
    {
      return known
    }
    guard let file = try? SourceFile(path: path), let directories = TIFFDirectories(file) else { return nil }
    last.withLock { $0 = (file, directories) }
    return (file, directories)
  }

  /// Returns a directory by its number; nil if there is none. The directories of the file's list are counted from 0,
  /// followed by those that each of them lists in `SubIFDs`.
  func directory(_ number: Int) -> Directory? {
    if number < all.count { return all.indices.contains(number) ? all[number] : nil }
    var number = number - all.count
    for directory in all {
      if number < directory.parts.count { return directory.parts[number] }
      number -= directory.parts.count
    }
    return nil
  }

  /// Returns the bytes of a file in which a directory, numbered as by `directory`, is the only one, where they are
  /// other than this file's: its header leads to the directory, and the directory to no other.
  func changes(forOnly number: Int) -> [(offset: Int, bytes: [UInt8])]? {
    guard let directory = directory(number) else { return nil }
    let (size, place) = isBig ? (8, 8) : (4, 4)
    return [
      (place, order.bytes(directory.offset, size)),
      (directory.linkOffset, [UInt8](repeating: 0, count: size)),
    ]
  }

  /// Why the file's pixels are a sensor's, or a preview of others; nil if they are a picture's.
  var rawKind: String? {
    guard let first = all.first else { return nil }
    if everything.contains(where: \.hasDNGVersion) { return "DNG" }
    if everything.contains(where: \.isSensors) { return "samples of a camera's sensor" }
    let isPreview = first.parts.contains { $0.area > first.area && !$0.isReduced && !$0.isMask }
    return isPreview ? "its first picture is a preview of a larger one" : nil
  }
}
