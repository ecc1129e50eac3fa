/// Whether all JPEG tiles of a TIFF file are of one kind, so that their coefficients are those of one large picture.
struct TIFFTileSurvey {
  /// The MCU of all tiles; nil if there is an obstacle.
  let mcu: JPEGHeader.MCU?
  /// Why tiles cannot be cut from the coefficients, as a clause; nil where they can.
  let obstacle: String?
  /// The obstacle is a tile that cannot be decoded as the others are.
  let isDamaged: Bool

  /// Bytes in front of the scan of nearly every tile.
  private static let usualStart = 1024

  /// Looks at each tile's header; pixels are not decoded.
  init(_ file: TIFFFile) throws(BuildError) {
    let found = Self.look(try TIFFChunkReader(file), file)
    switch found {
    case .success(let mcu): (self.mcu, obstacle, isDamaged) = (mcu, nil, false)
    case .failure(let refusal): (mcu, obstacle, isDamaged) = (nil, refusal.text, refusal.isDamage)
    }
  }

  private struct ValidationError: Error {
    let text: String
    var isDamage = false
  }

  private static func look(
    _ reader: TIFFChunkReader, _ file: TIFFFile
  ) -> Result<JPEGHeader.MCU, ValidationError> {
    guard file.isTiled else { return .failure(ValidationError(text: "its strips are not cut")) }
    if reader.isMissing(0) {
      return .failure(ValidationError(text: "\(reader.name(0)) is missing", isDamage: true))
    }
    let first: JPEGHeader
    do throws(BuildError) {
      guard let header = JPEGHeader(UnsafeRawBufferPointer(try reader.completeJPEG(0))) else {
        return .failure(ValidationError(text: "its first tile is not a usual JPEG"))
      }
      first = header
    } catch { return .failure(ValidationError(text: error.reason, isDamage: true)) }
    if let text = obstacle(first) { return .failure(ValidationError(text: text)) }
    guard let mcu = first.mcu, file.chunkWidth % mcu.width == 0, file.chunkHeight % mcu.height == 0 else {
      return .failure(ValidationError(text: "its chroma is of an unusual resolution"))
    }
    guard let start = reader.start(ofUnit: 0, count: usualStart), let length = JPEGHeader.length(start) else {
      return .failure(ValidationError(text: "its first tile has an unusual header"))
    }
    let usual = start[..<length]
    let isCropped = { (start: [UInt8]) in
      JPEGHeader.size(start).map { $0.width < file.chunkWidth || $0.height < file.chunkHeight } ?? false
    }
    if isCropped(start) {
      return .failure(ValidationError(text: "\(reader.name(0)) is cropped at the image's edge"))
    }
    for unit in 1..<max(1, file.columns * file.rows) {
      guard let start = reader.start(ofUnit: unit, count: length) else {
        return .failure(ValidationError(text: "\(reader.name(unit)) is missing", isDamage: true))
      }
      if start.elementsEqual(usual) { continue }
      do throws(BuildError) {
        let header = JPEGHeader(UnsafeRawBufferPointer(try reader.completeJPEG(unit)))
        if isCropped(start) {
          return .failure(ValidationError(text: "\(reader.name(unit)) is cropped at the image's edge"))
        }
        if let text = difference(of: header, from: first) {
          return .failure(ValidationError(text: "\(reader.name(unit)) has \(text)"))
        }
      } catch { return .failure(ValidationError(text: error.reason, isDamage: true)) }
    }
    return .success(mcu)
  }

  private static func obstacle(_ header: JPEGHeader) -> String? {
    if !header.isSequential { return "its JPEGs are progressive or of arithmetic coding" }
    if !header.isInterleaved { return "its JPEGs have a scan for each colour" }
    return header.tables.joined().allSatisfy { 1...255 ~= $0 } ? nil : "its JPEGs are not baseline"
  }

  private static func difference(of header: JPEGHeader?, from first: JPEGHeader) -> String? {
    guard let header, header.isSequential, header.isInterleaved else {
      return "another coding than the first"
    }
    if header.mcu != first.mcu { return "another chroma sampling than the first" }
    return header.tables == first.tables ? nil : "another quantisation than the first"
  }
}
