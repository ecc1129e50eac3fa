import ZigguratFiles

/// The canvas and the layers of a file of GIMP (XCF File Format), which ImageMagick does not compose.
struct XCFHeader {
  let layerCount: Int
  /// Whether one layer, opaque and visible, fills the canvas.
  let isFlat: Bool

  /// Layers and properties that are looked at.
  private static let maximum = 10_000

  /// `nil` if the file is no XCF, or its header cannot be read.
  init?(_ file: SourceFile) {
    guard let start = file.bytes(0, 26), start.starts(with: "gimp xcf ".utf8) else { return nil }
    func number(_ at: Int, _ size: Int = 4) -> Int? {
      file.bytes(at, size).map { ByteOrder.big.number($0) & 0xffff_ffff_ffff }
    }
    // "file" is version 0; later ones are "v" and three digits.
    let version = Int(String(decoding: start[10..<13], as: UTF8.self)) ?? 0
    let pointerSize = version >= 11 ? 8 : 4
    /// Calls `body` with the kind and the place of each property from `at` on, and returns the place behind them.
    func properties(_ at: Int, _ body: (Int, Int) -> Void) -> Int? {
      var at = at
      for _ in 0..<Self.maximum {
        guard let kind = number(at), let size = number(at + 4) else { return nil }
        at += 8
        if kind == 0 { return at }
        body(kind, at)
        at += size
      }
      return nil
    }
    guard let width = number(14), let height = number(18),
      var at = properties(version >= 4 ? 30 : 26, { _, _ in })
    else { return nil }
    var layers: [Int] = []
    while let place = number(at, pointerSize), place > 0, layers.count < Self.maximum {
      layers.append(place)
      at += pointerSize
    }
    guard let layer = layers.first, let nameSize = number(layer + 12) else { return nil }
    layerCount = layers.count
    var isFlat = layers.count == 1 && number(layer) == width && number(layer + 4) == height
    let end = properties(layer + 16 + nameSize) { kind, place in
      switch kind {
      // Its opacity, whether it is visible, and its offsets.
      case 6: isFlat = isFlat && number(place) == 255
      case 8: isFlat = isFlat && number(place) == 1
      case 15: isFlat = isFlat && number(place) == 0 && number(place + 4) == 0
      default: break
      }
    }
    guard end != nil else { return nil }
    self.isFlat = isFlat
  }

  /// Why the picture cannot be shown, as a clause.
  var refusal: String {
    (layerCount > 1
      ? "is an XCF file of \(layerCount) layers, which are not composed here"
      : "is an XCF file whose layer does not fill its canvas, or is not opaque")
      + ": flatten it, for example with 'convert FILE -background none -flatten FILE.png'"
  }
}
