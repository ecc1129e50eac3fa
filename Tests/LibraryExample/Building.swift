// Building archives from pixels of the program, with an encoder of its own. PyramidBuilding is the only import.
import PyramidBuilding

/// A gradient: 16-bit red, green and blue, made row by row.
struct Gradient: PixelSource {
  let width = 1000
  let height = 700
  let bands = 3
  let bitsPerSample = 16
  let micronsPerPixel: Point? = Point(x: 2, y: 2)

  func read(rows: Range<Int>, into bytes: inout MutableRawSpan) {
    var at = 0
    for y in rows {
      for x in 0..<width {
        for value in [x * 65, y * 90, 0x8000] {
          bytes.storeBytes(of: UInt16(value), toByteOffset: at, as: UInt16.self)
          at += 2
        }
      }
    }
  }
}

/// Encodes each tile as a PNG file whose pixel data are stored, not compressed.
struct StoredPNG: TileEncoder {
  var format: TileFormat { .png }

  func encode(_ pixels: RawSpan, width: Int, height: Int, bands: Int) -> [UInt8] {
    let rowSize = width * bands
    let colourType: UInt8 = [0, 4, 2, 6][bands - 1]
    var rows: [UInt8] = []
    pixels.withUnsafeBytes { bytes in
      for y in 0..<height { rows += [0] + bytes[(y * rowSize)..<((y + 1) * rowSize)] }
    }
    // Stored blocks of deflate (RFC 1951, section 3.2.4) in a zlib stream.
    var data: [UInt8] = [0x78, 0x01]
    for start in stride(from: 0, to: rows.count, by: 65535) {
      let part = rows[start..<min(start + 65535, rows.count)]
      let count = UInt16(part.count)
      data.append(start + part.count == rows.count ? 1 : 0)
      data += [UInt8(count & 0xff), UInt8(count >> 8), UInt8(~count & 0xff), UInt8(~count >> 8)] + part
    }
    data += big(adler32(rows))
    return [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]
      + chunk("IHDR", big(UInt32(width)) + big(UInt32(height)) + [8, colourType, 0, 0, 0])
      + chunk("IDAT", data) + chunk("IEND", [])
  }

  private func chunk(_ name: String, _ data: [UInt8]) -> [UInt8] {
    big(UInt32(data.count)) + name.utf8 + data + big(crc32(name.utf8 + data))
  }

  private func big(_ number: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(number >> $0 & 0xff) } }

  private func adler32(_ bytes: [UInt8]) -> UInt32 {
    var (a, b) = (1 as UInt32, 0 as UInt32)
    for byte in bytes { (a, b) = ((a + UInt32(byte)) % 65521, (b + a + UInt32(byte)) % 65521) }
    return b << 16 | a
  }

  private func crc32(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0 as UInt32) { crc, byte in
      (0..<8).reduce(crc ^ UInt32(byte)) { crc, _ in crc >> 1 ^ (crc & 1 == 1 ? 0xedb8_8320 : 0) }
    }
  }
}

func buildingExample() async throws {
  var options = BuildOptions()
  options.tileSize = 256
  options.format = .webp
  options.window = .range(low: .value(0), high: .value(65535))
  (options.subsampling, options.intent, options.bands) = (.none, .relative, nil)
  let builder = PyramidBuilder(options: options, threads: 2)

  // Pixels of the program, with progress.
  let progress = BuildProgress()
  async let report = builder.build(Gradient(), to: "gradient.szi", name: "gradient", progress: progress)
  var last = 0.0
  for await fraction in progress { last = fraction }
  print("gradient", try await report.pyramid.tileCount, "tiles, progress", last)

  // An encoder of the program.
  let encoding = PyramidBuilder(options: options, threads: 2, encoder: StoredPNG())
  print(
    "encoded", try await encoding.build(Gradient(), to: "encoded.szi", name: "encoded").pyramid.tileCount,
    "tiles")

  // Cancellation, by the task that awaits the build.
  let task = Task { try await builder.build(Gradient(), to: "cancelled.szi", name: "cancelled") }
  task.cancel()
  do { _ = try await task.value } catch let error as BuildError { print("stopped:", error.kind) }

  // Errors have kinds.
  do throws(BuildError) {
    _ = try await builder.build("none.jpg", to: "none.szi", name: "none")
  } catch {
    switch error.kind {
    case .sourceNotFound: print("no such source:", error)
    case .diskFull, .unavailable: print("try again later:", error)
    default: print("failed:", error)
    }
  }
  var refused = builder
  refused.options.quality = 500
  do throws(BuildError) {
    _ = try await refused.build(Gradient(), to: "none.szi", name: "none")
  } catch { print("refused:", error.kind, error) }
}
