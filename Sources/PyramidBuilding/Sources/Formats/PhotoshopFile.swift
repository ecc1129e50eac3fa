import ZigguratFiles
import ZigguratImaging

/// The composite picture of a Photoshop file, PSD or PSB (Adobe Photoshop File Formats Specification).
struct PhotoshopFile {
  let width, height: Int
  /// Planes of the composite, those beyond the colours included.
  let channels: Int
  /// Bits of a sample.
  let depth: Int
  /// 1 gray, 3 RGB, 4 CMYK.
  let mode: Int
  /// 0 none, 1 runs (PackBits).
  let compression: Int
  /// Whether the plane behind the colours is the transparency of the composite; otherwise it is a saved selection.
  let hasAlpha: Bool
  let profile: [UInt8]
  fileprivate let file: SourceFile
  /// The place of the first row.
  private let start: Int
  /// The place of each compressed row of each plane, and behind them the end of the last one; otherwise empty.
  private let rows: [Int]

  /// Rows of all planes whose lengths are read.
  private static let maxRows = 16 << 20
  private static let maxProfileSize = 16 << 20

  /// `nil` if the file is no Photoshop file, or ends before the rows of its composite are listed.
  init?(_ file: SourceFile) {
    guard let start = file.bytes(0, 26), start.starts(with: "8BPS".utf8) else { return nil }
    func number(_ at: Int, _ size: Int) -> Int? {
      // The upper half of a length of 64 bits is 0 in every file that exists.
      file.bytes(at, size).map { ByteOrder.big.number($0.suffix(4)) }
    }
    guard let channels = number(12, 2), let height = number(14, 4), let width = number(18, 4),
      let depth = number(22, 2), let mode = number(24, 2), let colours = number(26, 4),
      1...56 ~= channels, 1...32 ~= depth, 1...Image.maxDimension ~= width, height > 0,
      height <= Self.maxRows / channels
    else { return nil }
    let isLarge = start[5] == 2
    let lengthSize = isLarge ? 8 : 4
    let resources = 30 + colours
    guard let resourceSize = number(resources, 4) else { return nil }
    let layers = resources + 4 + resourceSize
    guard let layerSize = number(layers, lengthSize) else { return nil }
    let composite = layers + lengthSize + layerSize
    guard let compression = number(composite, 2) else { return nil }
    var at = composite + 2
    var rows: [Int] = []
    if compression == 1 {
      let size = isLarge ? 4 : 2
      guard let table = file.bytes(at, channels * height * size) else { return nil }
      at += table.count
      rows.reserveCapacity(channels * height + 1)
      rows.append(at)
      for row in 0..<channels * height {
        at += ByteOrder.big.number(table, at: row * size, size)
        rows.append(at)
      }
    }
    self.start = composite + 2
    self.width = width
    self.height = height
    self.channels = channels
    self.depth = depth
    self.mode = mode
    self.compression = compression
    self.file = file
    self.rows = rows
    profile = Self.resource(1039, from: resources + 4, size: resourceSize, file) ?? []
    // A negative number of layers says so (section "Layer info"), or a block where they have other samples.
    let end = layers + lengthSize + layerSize
    var hasAlpha = false
    if layerSize >= lengthSize + 2, let infoSize = number(layers + lengthSize, lengthSize) {
      let info = layers + 2 * lengthSize
      if infoSize >= 2, let count = number(info, 2) { hasAlpha = count >= 0x8000 }
      var block = info + infoSize
      if let maskSize = number(block, 4) { block += 4 + maskSize }
      while !hasAlpha, block + 12 <= end, let head = file.bytes(block, 12), head.starts(with: "8B".utf8) {
        let key = String(decoding: head[4..<8], as: UTF8.self)
        let isLong = isLarge && ["LMsk", "Lr16", "Lr32", "Layr", "Mt16", "Mt32", "Mtrn"].contains(key)
        guard let size = number(block + 8, isLong ? 8 : 4) else { break }
        let content = block + 8 + (isLong ? 8 : 4)
        if ["Mt16", "Mt32", "Mtrn"].contains(key) { hasAlpha = true }
        if ["Lr16", "Lr32"].contains(key), let count = number(content, 2) { hasAlpha = count >= 0x8000 }
        block = content + (size + 3) / 4 * 4
      }
    }
    self.hasAlpha = hasAlpha
  }

  /// Returns the content of an image resource block.
  private static func resource(_ wanted: Int, from start: Int, size: Int, _ file: SourceFile) -> [UInt8]? {
    var at = start
    while at + 12 <= start + size, let head = file.bytes(at, 7), head.starts(with: "8BIM".utf8) {
      // A name of Pascal, padded to an even size.
      let nameSize = (Int(head[6]) + 2) / 2 * 2
      guard let length = file.bytes(at + 6 + nameSize, 4) else { return nil }
      let count = ByteOrder.big.number(length)
      let content = at + 10 + nameSize
      if Int(head[4]) << 8 | Int(head[5]) == wanted {
        return count <= maxProfileSize ? file.bytes(content, count) : nil
      }
      at = content + (count + 1) / 2 * 2
    }
    return nil
  }

  /// Bytes of a row of a plane.
  fileprivate var rowSize: Int { (width * depth + 7) / 8 }

  /// Decodes a row of a plane.
  fileprivate func decode(_ plane: Int, _ row: Int) throws(ImagingError) -> [UInt8] {
    let place = plane * height + row
    let first = rows.isEmpty ? start + place * rowSize : rows[place]
    let size = rows.isEmpty ? rowSize : rows[place + 1] - first
    let undecodable = damage("is damaged: row \(row + 1) of channel \(plane + 1) cannot be decoded")
    // Runs of one byte take two. No memory is reserved for a length that cannot be true.
    guard size <= 2 * rowSize + 128 else { throw undecodable }
    guard let stored = file.bytes(first, size) else {
      throw damage(
        "is cut off: it ends before its image does, as a copy or download that was interrupted")
    }
    if compression == 0 { return stored }
    guard let bytes = Self.unpacked(stored, count: rowSize) else { throw undecodable }
    return bytes
  }

  private func damage(_ predicate: String) -> ImagingError {
    ImagingError(opening: file.path, "the PSD file \(predicate)")
  }

  /// Returns the bytes of PackBits; nil if there are not `count` of them.
  static func unpacked(_ stored: [UInt8], count: Int) -> [UInt8]? {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(count)
    var at = 0
    while at < stored.count, bytes.count < count {
      let length = Int(stored[at])
      at += 1
      // 128 is no operation.
      if length < 128 {
        guard at + length + 1 <= stored.count else { return nil }
        bytes += stored[at...at + length]
        at += length + 1
      } else if length > 128 {
        guard at < stored.count else { return nil }
        bytes += repeatElement(stored[at], count: 257 - length)
        at += 1
      }
    }
    return bytes.count == count ? bytes : nil
  }
}

extension PhotoshopFile {
  /// Returns the picture of a CMYK file, of which ImageMagick passes only black to libvips; nil for any other file.
  ///
  /// - Throws: an error if its samples are not supported.
  func separatedPicture() throws(ImagingError) -> Image? {
    guard mode == 4, channels >= 4 else { return nil }
    guard [8, 16].contains(depth), [0, 1].contains(compression) else {
      throw ImagingError(
        opening: file.path,
        "is a PSD file in CMYK of \(depth) bits whose composite picture is not read (compression "
          + "\(compression)): save it with 8 or 16 bits, or as TIFF")
    }
    let bands = hasAlpha && channels > 4 ? 5 : 4
    let header = GeneratedHeader(
      width: width, height: height, bands: bands, sampleType: depth == 8 ? .byte : .unsigned16,
      interpretation: "cmyk")
    let image = try Image(header, fields: nil, subject: file.path, from: PhotoshopPixels(self, bands: bands))
    if !profile.isEmpty { image.setProfile(profile) }
    return image
  }
}

/// The pixels of a composite in CMYK. Photoshop stores inks inverted.
private final class PhotoshopPixels: PixelSupply {
  private let picture: PhotoshopFile
  private let bands: Int

  init(_ picture: PhotoshopFile, bands: Int) {
    self.picture = picture
    self.bands = bands
  }

  func fill(
    _ base: UnsafeMutableRawPointer, stride: Int, x: Int, y: Int, width: Int, height: Int
  ) throws(ImagingError) {
    for row in 0..<height {
      for band in 0..<bands {
        let samples = try picture.decode(band, y + row)
        let inverse: UInt16 = band < 4 ? .max : 0
        if picture.depth == 8 {
          let line = (base + row * stride).assumingMemoryBound(to: UInt8.self)
          for place in 0..<width {
            line[place * bands + band] = samples[x + place] ^ UInt8(truncatingIfNeeded: inverse)
          }
        } else {
          let line = (base + row * stride).assumingMemoryBound(to: UInt16.self)
          for place in 0..<width {
            let at = 2 * (x + place)
            line[place * bands + band] = (UInt16(samples[at]) << 8 | UInt16(samples[at + 1])) ^ inverse
          }
        }
      }
    }
  }
}
