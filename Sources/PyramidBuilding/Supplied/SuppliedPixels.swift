import TileGeometry
import TileStorage
import ZigguratImaging

/// The pixels of a `PixelSource`, brought to 8 bits and, for tiles without alpha, laid over the background.
final class SuppliedPixels<Source: PixelSource>: StripSource, StripDecoding {
  let width: Int
  let height: Int
  let layout: PixelLayout
  private let name: String
  private var source: Source
  private let bands: PixelBands
  /// Bytes of a sample.
  private let sampleSize: Int
  /// Spreads a 16-bit sample over the window; nil if that is the whole range.
  private let windowing: (factor: Double, offset: Double)?
  /// The colour that alpha is laid over; `nil` if the tiles keep alpha, or the source has none.
  private let background: [Int]?
  private let rowsAtOnce: Int
  /// As the source writes them.
  private let rows: UnsafeMutableRawBufferPointer
  /// A row of 8-bit pixels.
  private let line: UnsafeMutablePointer<UInt8>

  private static var maxDimension: Int { 10_000_000 }
  /// Bytes of rows that are asked for at once.
  private static var rowsSize: Int { 1 << 20 }

  /// - Parameters:
  ///   - name: of the archive, which errors call the source.
  ///   - options: with the tile format that was chosen.
  init(_ source: Source, name: String, options: BuildOptions) throws(BuildError) {
    let (width, height, bits) = (source.width, source.height, source.bitsPerSample)
    guard let bands = PixelBands(rawValue: source.bands) else {
      throw BuildError(name, "invalid number of bands \(source.bands) (expected 1 to 4)", .invalidArgument)
    }
    guard bits == 8 || bits == 16 else {
      throw BuildError(name, "invalid bits per sample \(bits) (expected 8 or 16)", .invalidArgument)
    }
    guard 1...Self.maxDimension ~= width, 1...Self.maxDimension ~= height else {
      let expected = "expected sides of 1 to \(Self.maxDimension) pixels"
      throw BuildError(name, "invalid size \(width)×\(height) (\(expected))", .invalidArgument)
    }
    if let refusal = TileArchiveWriter.refusal(source.micronsPerPixel) {
      throw BuildError(name, refusal, .invalidArgument)
    }
    self.width = width
    self.height = height
    self.bands = bands
    sampleSize = bits / 8
    self.name = name
    self.source = source
    windowing = try Self.windowing(options, name)
    background = bands.hasAlpha && !options.keepsAlpha ? options.background : nil
    // A background may be coloured where the picture is gray.
    let isGray = bands.isGray && (background.map { Set($0).count == 1 } ?? true)
    layout = .interleaved(PixelBands(isGray: isGray, hasAlpha: bands.hasAlpha && background == nil))
    let rowSize = width * bands.count * sampleSize
    rowsAtOnce = max(1, Self.rowsSize / rowSize)
    rows = .allocate(byteCount: rowsAtOnce * rowSize, alignment: 16)
    rows.initializeMemory(as: UInt8.self, repeating: 0)
    line = .allocate(capacity: width * 4)
  }

  deinit {
    rows.deallocate()
    line.deallocate()
  }

  /// Returns how 16-bit samples are spread over the window, as `Image.spread` does it.
  private static func windowing(
    _ options: BuildOptions, _ name: String
  ) throws(BuildError) -> (factor: Double, offset: Double)? {
    switch options.window {
    case nil, .full: return nil
    case .range(low: .value(let low), high: .value(let high)) where (65535 / (high - low)).isFinite:
      let factor = 65535 / (high - low)
      return (factor, 0.5 - low * factor)
    case .auto, .range, .channels:
      throw BuildError(
        name, "invalid window (expected values: pixels are read once, without a search for others)",
        .invalidArgument)
    }
  }

  var memory: Int { rows.count + width * 4 }

  func makeDecoder() -> any StripDecoding { self }

  func finish() throws(BuildError) -> SourceDamage? { nil }

  func decode(piece: Int, into strip: Strip) throws(BuildError) {
    let rowSize = width * bands.count * sampleSize
    for y in stride(from: 0, to: strip.height, by: rowsAtOnce) {
      let count = min(rowsAtOnce, strip.height - y)
      let first = strip.row * strip.tileSize + y
      do {
        var bytes = UnsafeMutableRawBufferPointer(rebasing: rows[..<(count * rowSize)]).mutableBytes
        try source.read(rows: first..<first + count, into: &bytes)
      } catch { throw BuildError(name, error) }
      for row in 0..<count {
        strip.put(pixels(rows.baseAddress! + row * rowSize), count: width, plane: 0, x: 0, y: y + row)
      }
    }
  }

  /// Returns a row in the layout of the tiles, valid until the next call.
  private func pixels(_ row: UnsafeMutableRawPointer) -> UnsafePointer<UInt8> {
    let count = width * bands.count
    var bytes = row.assumingMemoryBound(to: UInt8.self)
    if sampleSize == 2 {
      let samples = row.assumingMemoryBound(to: UInt16.self)
      // In place: a byte is written where this sample, or one before it, was read.
      for at in 0..<count {
        let isAlpha = bands.hasAlpha && at % bands.count == bands.count - 1
        var sample = samples[at]
        if let windowing, !isAlpha {
          sample = UInt16(min(max(Double(sample) * windowing.factor + windowing.offset, 0), 65535))
        }
        bytes[at] = UInt8(truncatingIfNeeded: sample >> 8)
      }
    }
    guard let background else { return UnsafePointer(bytes) }
    let (colours, out) = (bands.count - 1, layout.bandsPerPlane)
    for x in 0..<width {
      let alpha = Int(bytes[colours])
      for band in 0..<out {
        let sum = Int(bytes[min(band, colours - 1)]) * alpha + background[band] * (255 - alpha)
        line[x * out + band] = UInt8((sum + 127) / 255)
      }
      bytes += bands.count
    }
    return UnsafePointer(line)
  }
}
