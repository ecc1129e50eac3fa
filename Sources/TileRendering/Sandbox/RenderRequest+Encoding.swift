import TileGeometry
import TileStorage
import ZigguratTileProtocols

/// The encoding of a request for a process of the same program: a sequence of 8-byte integers.
extension RenderRequest {
  var bytes: [UInt8] {
    var words: [Int] = [
      Int(bitPattern: UInt(generation)), pyramid.imageSize.width, pyramid.imageSize.height, pyramid.tileSize,
      pyramid.overlap, coarsestLevel, hasTileVersions ? 1 : 0, TileFormat.allCases.firstIndex(of: format)!,
    ]
    task.write(to: &words)
    for hint in hints {
      words += [hint.number, hint.version == nil ? 0 : 1, Int(bitPattern: UInt(hint.version ?? 0))]
    }
    return words.withUnsafeBytes { Array($0) }
  }

  /// Parses a request; nil if the bytes are invalid.
  init?(_ bytes: [UInt8]) {
    guard bytes.count % 8 == 0 else { return nil }
    var words = bytes.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count, by: 8).map { bytes.loadUnaligned(fromByteOffset: $0, as: Int.self) }
    }[...]
    guard words.count >= 8, let size = PixelSize(width: words[1], height: words[2]),
      let pyramid = Pyramid(imageSize: size, tileSize: words[3], overlap: words[4]),
      (0..<pyramid.levelCount).contains(words[5]), TileFormat.allCases.indices.contains(words[7])
    else { return nil }
    let (generation, coarsest, hasTileVersions) = (
      UInt64(bitPattern: Int64(words[0])), words[5], words[6] == 1
    )
    let format = TileFormat.allCases[words[7]]
    words = words.dropFirst(8)
    guard let task = RenderTask(&words), words.count % 3 == 0 else { return nil }
    let hints = stride(from: words.startIndex, to: words.endIndex, by: 3).map { at in
      Hint(number: words[at], version: words[at + 1] == 1 ? UInt64(bitPattern: Int64(words[at + 2])) : nil)
    }
    self.init(
      task: task, pyramid: pyramid, format: format, generation: generation, coarsestLevel: coarsest,
      hasTileVersions: hasTileVersions, hints: hints)
  }
}

extension RenderTask {
  fileprivate func write(to words: inout [Int]) {
    func bits(_ number: Double) -> Int { Int(bitPattern: UInt(number.bitPattern)) }
    let format = PictureFormat.allCases.firstIndex(of: format)!
    switch self {
    case .picture(let picture):
      let (region, size) = (picture.region, picture.size)
      words += [0, format, region.x, region.y, region.width, region.height, size.width, size.height]
      words += [
        picture.isMirrored ? 1 : 0, bits(picture.rotation),
        PictureQuality.allCases.firstIndex(of: picture.quality)!, Int(picture.encodingQuality ?? 0),
      ]
    case .viewport(let view, let ratio, _):
      words += [1, format, bits(view.width), bits(view.height), bits(view.scale), bits(view.x), bits(view.y)]
      words += [bits(view.rotation.degrees), view.rotation.isFlipped ? 1 : 0, bits(ratio)]
    case .crop(let part, let level, let size, _):
      words += [2, format, part.x, part.y, part.width, part.height, level, size.width, size.height]
    case .tile(let address, _): words += [3, format, address.level, address.column, address.row]
    case .joined(let part, let rotation):
      words += [
        4, format, part.x, part.y, part.width, part.height, bits(rotation.degrees),
        rotation.isFlipped ? 1 : 0,
      ]
    }
  }

  /// Removes a task's integers from the front and parses them.
  fileprivate init?(_ words: inout ArraySlice<Int>) {
    let counts = [12, 10, 9, 5, 8]
    guard let kind = words.first, counts.indices.contains(kind), words.count >= counts[kind] else {
      return nil
    }
    let own = Array(words.prefix(counts[kind]))
    words = words.dropFirst(own.count)
    guard PictureFormat.allCases.indices.contains(own[1]) else { return nil }
    let format = PictureFormat.allCases[own[1]]
    func number(_ at: Int) -> Double { Double(bitPattern: UInt64(UInt(bitPattern: own[at]))) }
    func rectangle(_ at: Int) -> PixelRect {
      PixelRect(x: own[at], y: own[at + 1], width: own[at + 2], height: own[at + 3])
    }
    switch kind {
    case 0:
      guard let size = PixelSize(width: own[6], height: own[7]),
        PictureQuality.allCases.indices.contains(own[10]), (0...100).contains(own[11])
      else { return nil }
      var picture = Picture(region: rectangle(2), size: size, format: format)
      picture.isMirrored = own[8] == 1
      picture.rotation = number(9)
      picture.quality = PictureQuality.allCases[own[10]]
      picture.encodingQuality = own[11] == 0 ? nil : UInt8(own[11])
      self = .picture(picture)
    case 1:
      guard number(2) > 0, number(3) > 0, number(4) > 0, number(7).isFinite else { return nil }
      let view = Viewport(
        width: number(2), height: number(3), scale: number(4), x: number(5), y: number(6),
        rotation: Rotation(degrees: number(7), isFlipped: own[8] == 1))
      self = .viewport(view, devicePixelRatio: number(9), format)
    case 2:
      guard let size = PixelSize(width: own[7], height: own[8]) else { return nil }
      self = .crop(rectangle(2), level: own[6], paddedTo: size, format)
    case 3: self = .tile(TileAddress(level: own[2], column: own[3], row: own[4]), format)
    case 4:
      guard number(6).isFinite else { return nil }
      self = .joined(rectangle(2), Rotation(degrees: number(6), isFlipped: own[7] == 1))
    default: return nil
    }
  }
}
