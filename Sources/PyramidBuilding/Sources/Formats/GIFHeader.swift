import ZigguratFiles

/// The canvas and the first frame of a GIF (GIF89a specification), and where the file ends.
struct GIFHeader {
  /// The part of the canvas that the first frame covers.
  let frame: (left: Int, top: Int, width: Int, height: Int)
  let width, height: Int
  /// The first colour of the first frame's table. Pillow and browsers use it for areas that no frame covers.
  let firstColour: [UInt8]
  /// Whether a frame has transparent pixels.
  let hasTransparency: Bool
  let frames: Int
  /// The place behind the trailer; nil if that is missing.
  let end: Int?
  /// Whether the trailer is missing.
  let isCutOff: Bool
  /// Whether the end is missing in a file of several frames, or within a frame.
  let mayLackFrames: Bool
  /// Pixels of the first frame for which the file has no code; nil if they were not counted.
  let missingPixels: Int?

  /// Blocks that are looked at, of 255 bytes at most.
  private static let maxBlocks = 1 << 22

  /// `nil` if the file is no GIF, or has no frame.
  ///
  /// - Parameter countsPixels: whether the codes of the first frame are counted, which takes as long as to decode it.
  init?(_ file: SourceFile, countsPixels: Bool = false) {
    guard let head = file.bytes(0, 13), head.starts(with: "GIF8".utf8) else { return nil }
    var bytes = SourceBytes(file, at: 13)
    func table(_ flags: UInt8) -> Int { flags & 0x80 != 0 ? 3 << (Int(flags & 7) + 1) : 0 }
    width = Int(head[6]) | Int(head[7]) << 8
    height = Int(head[8]) | Int(head[9]) << 8
    let shared = bytes.next(table(head[10])) ?? []
    var first: (left: Int, top: Int, width: Int, height: Int)?
    var colour: [UInt8] = []
    var missing: Int?
    var (frames, hasTransparency, isAnimated, hasEnd, isInside) = (0, false, false, false, false)
    blocks: for _ in 0..<Self.maxBlocks {
      guard let kind = bytes.next() else { break }
      isInside = true
      switch kind {
      case 0x3b:
        hasEnd = true
        isInside = false
        break blocks
      case 0x21:
        guard let label = bytes.next() else { break blocks }
        let body = bytes.blocks()
        if label == 0xf9, let flags = body?.first { hasTransparency = hasTransparency || flags & 1 != 0 }
        if label == 0xff, body?.starts(with: "NETSCAPE2.0".utf8) == true { isAnimated = true }
        if body == nil { break blocks }
      case 0x2c:
        guard let place = bytes.next(9) else { break blocks }
        let own = bytes.next(table(place[8]))
        func number(_ at: Int) -> Int { Int(place[at]) | Int(place[at + 1]) << 8 }
        if first == nil {
          first = (number(0), number(2), number(4), number(6))
          colour = Array((own?.isEmpty == false ? own ?? [] : shared).prefix(3))
        }
        // The least size of a code.
        guard let size = bytes.next() else { break blocks }
        if countsPixels, frames == 0 {
          let wanted = number(4) * number(6)
          guard let codes = bytes.codedPixels(size, atMost: wanted) else { break blocks }
          missing = wanted - codes
        } else if bytes.blocks(keeping: 0) == nil {
          break blocks
        }
        frames += 1
      default: break blocks
      }
      isInside = false
    }
    guard let first else { return nil }
    frame = first
    firstColour = colour
    self.frames = frames
    self.hasTransparency = hasTransparency
    missingPixels = missing
    end = hasEnd ? bytes.place : nil
    isCutOff = !hasEnd && bytes.hasEnded
    mayLackFrames = isCutOff && (isInside || frames > 1 || isAnimated)
  }

  /// Whether the first frame leaves a part of the canvas without colour.
  var isPartial: Bool {
    !hasTransparency && firstColour.count == 3
      && (frame.left > 0 || frame.top > 0 || frame.left + frame.width < width
        || frame.top + frame.height < height)
  }
}

extension SourceBytes {
  /// Reads the blocks of a frame to the empty one, and counts the pixels that their codes stand for.
  ///
  /// - Returns: nil if the file ends before.
  fileprivate mutating func codedPixels(_ minimumSize: UInt8, atMost wanted: Int) -> Int? {
    var codes = LZWCodes(minimumSize)
    while let length = next() {
      if length == 0 { return min(codes.pixels, wanted) }
      for left in stride(from: Int(length), to: 0, by: -1) {
        guard codes.pixels < wanted, !codes.haveEnded else {
          guard skip(left) else { return nil }
          break
        }
        guard let byte = next() else { return nil }
        codes.add(byte)
      }
    }
    return nil
  }

  /// Reads blocks, each behind its length, to the empty one.
  ///
  /// - Parameter kept: how many of their bytes are returned at most.
  /// - Returns: nil if the file ends before.
  fileprivate mutating func blocks(keeping kept: Int = 16) -> [UInt8]? {
    var bytes: [UInt8] = []
    while let length = next() {
      if length == 0 { return bytes }
      let first = min(Int(length), kept - bytes.count)
      guard let part = next(first), skip(Int(length) - first) else { return nil }
      bytes += part
    }
    return nil
  }
}

/// Reads the codes of a frame (GIF89a, appendix F); only their lengths are kept.
private struct LZWCodes {
  /// Pixels that the codes stand for.
  private(set) var pixels = 0
  /// Whether the end code came, or a code that does not exist.
  private(set) var haveEnded = false
  private let minimumSize: Int
  private var lengths: [Int]
  private var next, size: Int
  private var last: Int?
  private var (bits, bitCount) = (0, 0)

  private static let maxCodes = 1 << 12

  init(_ minimumSize: UInt8) {
    self.minimumSize = Int(minimumSize)
    haveEnded = !(1...11 ~= minimumSize)
    let clear = haveEnded ? 2 : 1 << Int(minimumSize)
    lengths = [Int](repeating: 1, count: Self.maxCodes)
    next = clear + 2
    size = self.minimumSize + 1
  }

  mutating func add(_ byte: UInt8) {
    bits |= Int(byte) << bitCount
    bitCount += 8
    while bitCount >= size, !haveEnded {
      let code = bits & (1 << size - 1)
      bits >>= size
      bitCount -= size
      take(code)
    }
  }

  private mutating func take(_ code: Int) {
    let clear = 1 << minimumSize
    if code == clear {
      next = clear + 2
      size = minimumSize + 1
      last = nil
      return
    }
    guard code != clear + 1, code < next || code == next && last != nil && next < Self.maxCodes,
      last != nil || code < clear
    else {
      haveEnded = true
      return
    }
    if let last, next < Self.maxCodes {
      lengths[next] = lengths[last] + 1
      next += 1
      if next == 1 << size, size < 12 { size += 1 }
    }
    pixels += lengths[code]
    last = code
  }
}
