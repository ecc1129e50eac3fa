import TileStorage
import ZigguratFiles

/// The planes of a hyperstack that ImageJ or Fiji wrote into a TIFF file (ImageJ, `ij/io/TiffDecoder`): channels before
/// slices before frames.
struct ImageJPlanes: StackPlanes {
  let channels: [StackChannel]
  let sizeZ: Int
  let sizeT: Int
  /// Whether it is one picture by itself, of several axes: slices alone, or frames, are pages, as scans of a book are.
  let isHyperstack: Bool
  let images = 1
  let image = 0
  private let pages: Int

  private static let maximum = 1 << 20

  /// Returns the number of planes without directories after the first one; `nil` if there are none. ImageJ writes them
  /// in stacks of more than 4 GB.
  static func withoutDirectories(_ all: [TIFFDirectories.Directory]) -> Int? {
    guard all.count == 1, let images = numbers(all[0])?["images"], images > 1 else { return nil }
    return images - 1
  }

  /// Returns the damage of a file that ends before the planes which ImageJ wrote without directories: each is as large
  /// as the first one and follows it at once. `nil` if the file has all of them.
  static func damage(_ all: [TIFFDirectories.Directory], byteCount: Int) -> SourceDamage? {
    guard let further = withoutDirectories(all), let first = all[0].strip,
      first.count == (all[0].area &* all[0].samples &* all[0].bits &+ 7) / 8
    else { return nil }
    let held = max(0, byteCount - first.lowerBound) / first.count
    guard held <= further else { return nil }
    return SourceDamage(
      .truncated, "the TIFF file is cut off: it holds \(held) of \(further + 1) planes of an ImageJ stack")
  }

  /// Returns the numbers of ImageJ's description; `nil` of any other.
  private static func numbers(_ directory: TIFFDirectories.Directory) -> [Substring: Int]? {
    guard directory.description.hasPrefix("ImageJ=") else { return nil }
    var numbers: [Substring: Int] = [:]
    for line in directory.description.split(whereSeparator: \.isNewline) {
      let parts = line.split(separator: "=", maxSplits: 1)
      guard parts.count == 2 else { continue }
      numbers[parts[0]] = Int(parts[1])
    }
    return numbers
  }

  /// `nil` if another program wrote the file, or its pages are not as many as its axes say.
  ///
  /// - Parameter pages: how many directories the file has.
  init?(_ first: TIFFDirectories.Directory, pages: Int) {
    guard let numbers = Self.numbers(first) else { return nil }
    let (c, z, t) = (numbers["channels"] ?? 1, numbers["slices"] ?? 1, numbers["frames"] ?? 1)
    guard 1...Self.maximum ~= c, 1...Self.maximum ~= z, 1...Self.maximum ~= t, c * z <= Self.maximum,
      c * z * t == pages
    else { return nil }
    let colours = Self.colours(first.imageJData, first.imageJCounts)
    channels = (0..<c).map { colours.indices.contains($0) ? colours[$0] : StackChannel() }
    sizeZ = z
    sizeT = t
    self.pages = pages
    isHyperstack = c > 1 || z > 1 && t > 1
  }

  func page(channel: Int, z: Int, t: Int) -> Int? {
    let page = channel + channels.count * (z + sizeZ * t)
    return page < pages ? page : nil
  }

  func otherFile(channel: Int, z: Int, t: Int) -> String? { nil }

  /// Returns the colours of the channels, by the tables that ImageJ keeps in a tag of its own (`ij/io/TiffEncoder`,
  /// `writeMetaData`): none for one that is no ramp from or to black.
  private static func colours(_ data: [UInt8], _ counts: [Int]) -> [StackChannel] {
    guard data.count >= 4, let header = counts.first, header <= data.count else { return [] }
    // The bytes of its marks are in the order of the file.
    let isReversed = data.prefix(4).elementsEqual("JIJI".utf8)
    guard isReversed || data.prefix(4).elementsEqual("IJIJ".utf8) else { return [] }
    let tables = Array((isReversed ? "stul" : "luts").utf8)
    var (place, part) = (header, 1)
    for entry in stride(from: 4, to: header - 7, by: 8) {
      let count = (isReversed ? ByteOrder.little : .big).number(data, at: entry + 4, 4)
      guard count <= counts.count - part else { return [] }
      let sizes = counts[part..<part + count]
      // Sizes that are negative or beyond the data are not added.
      let total = sizes.reduce(0 as Int?) { total, size in
        total.flatMap { 0...data.count - place - $0 ~= size ? $0 + size : nil }
      }
      guard let total else { return [] }
      if data[entry..<entry + 4].elementsEqual(tables) {
        return sizes.map { size in
          defer { place += size }
          guard size == 768 else { return StackChannel() }
          return channel(data[place..<place + size])
        }
      }
      place += total
      part += count
    }
    return []
  }

  /// - Parameter table: the red, then the green and the blue of 256 values.
  private static func channel(_ table: ArraySlice<UInt8>) -> StackChannel {
    let bands = (0..<3).map { Array(table.dropFirst(256 * $0).prefix(256)).map(Int.init) }
    func isRamp(_ bands: [[Int]]) -> Bool {
      bands.allSatisfy { band in
        band.indices.allSatisfy { abs(band[$0] * 255 - band[255] * $0) <= 2 * 255 }
      }
    }
    if isRamp(bands) { return StackChannel(colour: bands.map { $0[255] }) }
    guard isRamp(bands.map { $0.reversed() }) else { return StackChannel() }
    return StackChannel(colour: bands.map { $0[0] }, isInverted: true)
  }
}
