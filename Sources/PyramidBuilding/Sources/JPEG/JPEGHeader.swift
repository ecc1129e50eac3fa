/// The frame and quantisation of a JPEG, read from its markers (ITU-T T.81 annex B).
struct JPEGHeader {
  struct Component {
    let id: UInt8
    let horizontal: Int
    let vertical: Int
    let table: Int
  }

  /// Sequential, 8 bits, Huffman coded.
  let isSequential: Bool
  /// All components are in the first scan.
  let isInterleaved: Bool
  let components: [Component]
  /// Quantisation of each component.
  let tables: [[Int]]

  /// `nil` if the markers up to the first scan make no sense.
  init?(_ bytes: UnsafeRawBufferPointer) {
    guard bytes.count > 4, bytes[0] == 0xff, bytes[1] == 0xd8 else { return nil }
    var tables: [Int: [Int]] = [:]
    var frame: (marker: UInt8, components: [Component])?
    var at = 2
    while at + 4 <= bytes.count {
      guard bytes[at] == 0xff else { return nil }
      let marker = bytes[at + 1]
      if marker == 0xff {
        at += 1
        continue
      }
      let length = Int(bytes[at + 2]) << 8 | Int(bytes[at + 3])
      guard length >= 2, at + 2 + length <= bytes.count else { return nil }
      let segment = UnsafeRawBufferPointer(rebasing: bytes[(at + 4)..<(at + 2 + length)])
      switch marker {
      case 0xdb:
        guard Self.read(segment, into: &tables) else { return nil }
      case 0xc0...0xcf where ![0xc4, 0xc8, 0xcc].contains(marker):
        guard frame == nil, let components = Self.components(segment) else { return nil }
        frame = (marker, components)
      case 0xda:
        guard let frame else { return nil }
        isSequential = frame.marker <= 0xc1 && segment.count > 0
        components = frame.components
        isInterleaved = segment.count > 0 && Int(segment[0]) == frame.components.count
        let used = components.map { tables[$0.table] }
        guard used.allSatisfy({ $0 != nil }) else { return nil }
        self.tables = used.map { $0! }
        return
      default: break
      }
      at += 2 + length
    }
    return nil
  }

  /// The size of the frame that begins in `bytes`; nil if none does.
  static func size(_ bytes: [UInt8]) -> (width: Int, height: Int)? {
    frame(bytes).map { at in
      (Int(bytes[at + 7]) << 8 | Int(bytes[at + 8]), Int(bytes[at + 5]) << 8 | Int(bytes[at + 6]))
    }
  }

  /// Why libjpeg cannot decode the frame that begins in `bytes`, as a predicate about JPEG data (ITU-T T.81, table
  /// B.1); `nil` if it can, or none begins there.
  static func obstacle(_ bytes: [UInt8]) -> String? {
    guard let at = frame(bytes) else { return nil }
    let process = bytes[at + 1] & 15
    switch process {
    case 3, 11: return "are lossless (SOF\(process))"
    case 5...7, 13...15: return "are hierarchical (SOF\(process))"
    default: return bytes[at + 4] == 8 ? nil : "have samples of \(bytes[at + 4]) bits"
    }
  }

  /// The place of the frame's marker in `bytes`; `nil` if none begins there.
  private static func frame(_ bytes: [UInt8]) -> Int? {
    guard bytes.starts(with: [0xff, 0xd8]) else { return nil }
    var at = 2
    while at + 9 <= bytes.count, bytes[at] == 0xff {
      let marker = bytes[at + 1]
      if marker == 0xff {
        at += 1
        continue
      }
      if 0xc0...0xcf ~= marker, ![0xc4, 0xc8, 0xcc].contains(marker) {
        return at
      }
      at += 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
    }
    return nil
  }

  /// Returns the place at which the first scan's data begin; nil if it is not in `bytes`.
  static func length(_ bytes: [UInt8]) -> Int? {
    var at = 2
    while at + 4 <= bytes.count, bytes[at] == 0xff, bytes[at + 1] != 0xff {
      let isScan = bytes[at + 1] == 0xda
      at += 2 + (Int(bytes[at + 2]) << 8 | Int(bytes[at + 3]))
      if isScan { return at <= bytes.count ? at : nil }
    }
    return nil
  }

  /// DQT: tables of 64 numbers of 8 or 16 bits.
  private static func read(_ segment: UnsafeRawBufferPointer, into tables: inout [Int: [Int]]) -> Bool {
    var at = 0
    while at < segment.count {
      let size = segment[at] >> 4 == 0 ? 1 : 2
      let number = Int(segment[at] & 15)
      guard at + 1 + 64 * size <= segment.count else { return false }
      tables[number] = (0..<64).map { index in
        let first = at + 1 + index * size
        return size == 1 ? Int(segment[first]) : Int(segment[first]) << 8 | Int(segment[first + 1])
      }
      at += 1 + 64 * size
    }
    return true
  }

  private static func components(_ segment: UnsafeRawBufferPointer) -> [Component]? {
    guard segment.count >= 6, segment[0] == 8, segment.count == 6 + 3 * Int(segment[5]) else { return nil }
    return (0..<Int(segment[5])).map { index in
      let at = 6 + 3 * index
      return Component(
        id: segment[at], horizontal: Int(segment[at + 1] >> 4), vertical: Int(segment[at + 1] & 15),
        table: Int(segment[at + 2] & 15))
    }
  }

  /// Gray, or YCbCr of 4:2:0, as JFIF numbers its components.
  var isJFIF420OrGray: Bool {
    switch components.count {
    case 1: components[0].id == 1
    case 3:
      components.map(\.id) == [1, 2, 3] && components.map(\.horizontal) == [2, 1, 1]
        && components.map(\.vertical) == [2, 1, 1]
    default: false
    }
  }
}

extension JPEGHeader {
  /// The smallest part of a JPEG with all its coefficients together (ITU-T T.81, section A.2.3).
  struct MCU: Hashable {
    /// Pixels.
    let width: Int
    let height: Int
    /// The number of blocks of 64 coefficients.
    let blocks: Int

    /// No component is coarser than the others.
    var isOfOnePixelEach: Bool { width == 8 && height == 8 }
  }

  /// The MCU; nil if components are subsampled in a way that no tile here has: chroma is finer than brightness, or
  /// coarser by more than half.
  var mcu: MCU? {
    let sampling = components.map { [$0.horizontal, $0.vertical] }
    switch sampling.count {
    case 1 where sampling[0] == [1, 1]: return MCU(width: 8, height: 8, blocks: 1)
    case 3 where sampling[1] == [1, 1] && sampling[2] == [1, 1] && sampling[0].allSatisfy { 1...2 ~= $0 }:
      let (across, down) = (sampling[0][0], sampling[0][1])
      return MCU(width: 8 * across, height: 8 * down, blocks: across * down + 2)
    default: return nil
    }
  }
}
