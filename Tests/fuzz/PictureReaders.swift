import TileGeometry
import ZigguratCISAL
import ZigguratImaging

@testable import PyramidBuilding

extension FuzzInput {
  func readPicture(_ target: FuzzTarget) {
    do throws(BuildError) {
      // The builder computes these in its own process, for any bytes.
      let digests = try SourceFile(path: path).digests { false }
      let digest = try SourceFile(path: path).digest()
      precondition(digests.content == digest, "one content, one digest")
      if let contents = try SourceContents.of(SourceFile(path: path), BuildOptions()), contents.raw == nil {
        let known = Set(contents.pages + contents.leftOut.map(\.directory))
        precondition(known.count == contents.directoryCount, "each picture is a page or is left out")
        var options = BuildOptions()
        options.depth = 1
        if let planes = contents.planes(options) {
          precondition(planes.planeCount > 0, "a stack has planes")
          _ = planes.page(channel: planes.channels.count - 1, z: planes.sizeZ - 1, t: planes.sizeT - 1)
        }
      }
      switch target {
      case .png: try png(FuzzInput(bytes: withPNGChecksums).path)
      case .tiff: try tiff(path)
      default: try jpeg(path)
      }
    } catch {
      precondition(!error.reason.isEmpty, "a refusal has a reason")
    }
  }

  func findEnd() {
    do throws(BuildError) {
      let file = try SourceFile(path: path)
      let ranges = [1..<9, 64..<128].filter { $0.upperBound <= bytes.count }
      for loader in ["jpegload", "pngload", "webpload", "gifload", "heifload"] {
        let isData = TrailingData.isBeforeData(file, loader)
        precondition(!isData || bytes.count > 8, "data need a picture before them")
        _ = TrailingData.isBeforeData(file, loader, known: ranges)
      }
      _ = FITSHeader(file)
      _ = RunLengths.targa(Array(bytes.prefix(64)), file)
      _ = RunLengths.pcx(file)
      _ = RunLengths.sgi(Array(bytes.prefix(64)), file)
      _ = BitmapRuns.damage(Array(bytes.prefix(64)), file)
      _ = PixelFingerprint(file)
      if let picture = PhotoshopFile(file), picture.width <= largest / picture.height,
        let image = try? picture.separatedPicture()
      {
        _ = try? image.means(columns: 1, rows: 1)
      }
    } catch {
      precondition(!error.reason.isEmpty, "a refusal has a reason")
    }
  }

  func readRAW() {
    do throws(BuildError) {
      let file = try SourceFile(path: path, name: "a.dng")
      guard let signs = (try? SourceContents.of(file, BuildOptions()))?.raw else { return }
      for choice in RawChoice.allCases {
        let picture = try RawPicture(file, signs, choice)
        do throws(ImagingError) {
          let image = try picture.open()
          guard image.width <= largest / image.height else { continue }
          try readPixels(image)
        } catch {
          precondition(!error.message.isEmpty, "a refusal has a reason")
        }
      }
    } catch {
      precondition(!error.reason.isEmpty, "a refusal has a reason")
    }
  }

  /// Decodes all pixels of an image of bytes.
  private func readPixels(_ image: Image) throws(ImagingError) {
    let stride = image.width * image.bands
    let rows = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * image.height)
    defer { rows.deallocate() }
    try PixelReader(image).read(rows: image.height, from: 0, to: rows, stride: stride)
  }

  func readDICOM() {
    do throws(ImagingError) {
      let path = path
      guard let file = try DICOMImage(path: path), file.width <= largest / file.height else { return }
      let windows: [DICOMImage.Window?] = [nil, .values, .samples, .ends(.percentile(1), .value(300))]
      for window in windows {
        let windowed = window.map { file.with($0, name: "its own") } ?? file
        try readPixels(Image(windowed, path: path))
      }
    } catch {
      precondition(!error.message.isEmpty, "a refusal has a reason")
    }
  }

  func readPDF() {
    let path = path
    // The file of the last input had the same name.
    PDFDocument.closeLast()
    if let page = PDFPage(path: path, page: 0) {
      precondition(page.userUnit > 0 && page.userUnit <= 1000, "a page has a unit")
      if case .finest(let resolution) = page.resolution {
        precondition(resolution.isFinite, "a finite resolution")
      }
    }
    _ = PDFPage.label(path: path, page: 0)
    if let document = PDFDocument(path: path) {
      precondition(
        document.outline.allSatisfy { $0.page > 0 && !$0.title.isEmpty }, "an entry leads to a page")
    }
    _ = PDFDocument.damage(ofFileAt: path)
  }

  /// Hardly an input would get past a PNG's checksums.
  private var withPNGChecksums: [UInt8] {
    var bytes = bytes
    var at = 8
    while at + 12 <= bytes.count {
      let length = bytes[at..<at + 4].reduce(0) { $0 << 8 | Int($1) }
      guard at + 12 + length <= bytes.count else { break }
      let crc = bytes.withUnsafeBufferPointer {
        crc32_gzip_refl(0, $0.baseAddress! + at + 4, UInt64(length + 4))
      }
      for byte in 0..<4 {
        bytes[at + 8 + length + byte] = UInt8(truncatingIfNeeded: crc >> (24 - 8 * UInt32(byte)))
      }
      at += 12 + length
    }
    return bytes
  }
}

private let tileSize = 64
/// Larger pictures would only take longer.
private let largest = 1 << 21

private func jpeg(_ path: String) throws(BuildError) {
  for way in [JPEGSource.Path.rows, .planes, .coefficients] {
    let file = try JPEGFile(path: path)
    guard file.hasRows, file.width * file.height <= largest else { continue }
    if way == .planes, !file.hasPlanes { continue }
    if way == .coefficients, !file.hasStreamingCoefficients { continue }
    try drain(try JPEGSource(file, way, tileSize: tileSize))
  }
}

private func png(_ path: String) throws(BuildError) {
  let file = try PNGFile(path: path)
  guard file.obstacle == nil, file.width <= largest / file.height else { return }
  try drain(PNGSource(file))
}

private func tiff(_ path: String) throws(BuildError) {
  for page in 0..<2 {
    do throws(BuildError) { try unitPixels(path, page: page) } catch {
      precondition(!error.reason.isEmpty, "a refusal has a reason")
    }
  }
  var file = try TIFFFile(path: path, tileSize: tileSize)
  guard file.obstacle == nil, file.width <= largest / file.height,
    let ability = try TIFFAbility(&file)
  else { return }
  try drain(TIFFSource(file, .rows, tileSize: tileSize))
  let keepsPlanes = ability.hasPlanes
  if keepsPlanes { try drain(TIFFSource(file, .planes, tileSize: tileSize)) }
  guard ability.hasSequentialTiles else { return }
  if file.chunkWidth == tileSize, file.chunkHeight == tileSize {
    try drain(TIFFSource(file, .copies, tileSize: tileSize, keepsPlanes: keepsPlanes))
  }
  guard let mcu = try TIFFTileSurvey(file).mcu else { return }
  try drain(TIFFSource(file, .coefficients(mcu), tileSize: tileSize, keepsPlanes: keepsPlanes))
}

/// Decodes all pixels as libvips would ask for them, by the reader for what libvips does not read.
private func unitPixels(_ path: String, page: Int) throws(BuildError) {
  let handle = try TIFFHandle(path: path, page: page)
  guard let tags = TIFFTags(handle), tags.refusal(keepsBands: false) == nil,
    tags.width <= largest / tags.height, tags.chunkWidth <= largest / tags.chunkHeight, tags.samples <= 16
  else { return }
  _ = tags.choice
  let pixels = try TIFFChunkPixels(path: path, page: page, tags: tags)
  let stride = tags.width * pixels.bytesPerPixel
  let memory = UnsafeMutableRawPointer.allocate(byteCount: stride * tileSize, alignment: 16)
  defer { memory.deallocate() }
  for y in Swift.stride(from: 0, to: tags.height, by: tileSize) {
    do throws(ImagingError) {
      try pixels.fill(
        memory, stride: stride, x: 0, y: y, width: tags.width, height: min(tileSize, tags.height - y))
    } catch { throw BuildError(path, error) }
  }
}

/// Decodes every strip as the scheduler does, with one thread.
private func drain(_ source: some StripSource) throws(BuildError) {
  guard let size = PixelSize(width: source.width, height: source.height),
    let pyramid = Pyramid(imageSize: size, tileSize: tileSize)
  else { return }
  let level = StripLevel(pyramid, shift: 0, layout: source.layout)
  let strip = Strip(level, coefficientCount: source.coefficientsPerStrip)
  if !source.hasReadyTiles {
    for column in 0..<level.columns { strip.setBlock(.allocate(capacity: level.block.byteCount), column) }
  }
  let decoder = try source.makeDecoder()
  let tiles = try source.makeReadyTiles()
  for row in 0..<level.rows {
    strip.begin(row: row)
    for piece in 0..<source.pieceCount(ofRow: row) { try decoder.decode(piece: piece, into: strip) }
    guard let tiles else { continue }
    for column in 0..<level.columns {
      let (_, pixels) = try tiles.tile(column, of: strip, width: strip.width(ofTile: column))
      pixels.repeatOddEdges()
    }
  }
  _ = try source.finish()
}
