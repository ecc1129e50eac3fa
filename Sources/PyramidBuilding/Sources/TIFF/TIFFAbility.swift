import ZigguratCTurboJPEG

/// The routes that a TIFF file's own data allow, judged by the first tile or strip that it holds.
struct TIFFAbility {
  /// Planes of 4:2:0 or gray can stay as they are stored.
  let hasPlanes: Bool
  /// Tiles of the file are JPEG files that any browser takes, once they have their tables.
  let hasSequentialTiles: Bool
  /// Chroma, or red, green and blue, is as fine as brightness at least along one side.
  let hasFineChroma: Bool
  /// Quantisation of luminance and chrominance; empty where the file is not JPEG.
  let tables: [[Int]]

  /// `nil` if the JPEG decoder would mistake the colours for others.
  ///
  /// - Parameter file: gets the chroma sampling that all units must have.
  init?(_ file: inout TIFFFile) throws(BuildError) {
    let reader = file.isJPEG ? try TIFFChunkReader(file) : nil
    guard let reader, let unit = (0..<file.columns * file.rows).first(where: { !reader.isMissing($0) }) else {
      hasPlanes = false
      hasSequentialTiles = false
      hasFineChroma = false
      tables = []
      return
    }
    guard try reader.hasStatedColours(unit) else { return nil }
    file.sampling = try reader.sampling(ofUnit: unit)
    let data = try reader.completeJPEG(unit)
    let header = JPEGHeader(UnsafeRawBufferPointer(data))
    let isRGB = file.bands > 1 && !file.isYCbCr
    let isKnown = !isRGB && header?.isJFIF420OrGray ?? false
    // Chroma rows, or columns, of two units must not meet in one.
    let isAligned =
      (file.chunkHeight % 16 == 0 || file.rows == 1) && (file.chunkWidth % 2 == 0 || file.columns == 1)
    hasPlanes = isKnown && isAligned
    let mcu = header?.mcu
    hasSequentialTiles =
      mcu != nil && file.isTiled && header?.isSequential == true && (!isRGB || mcu?.isOfOnePixelEach == true)
    hasFineChroma = !isKnown
    tables = header?.tables ?? []
  }
}
