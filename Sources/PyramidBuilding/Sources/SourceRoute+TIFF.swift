import TileStorage
import ZigguratImaging

extension SourceRoute {
  /// - Parameter isSlide: whether a scanner made the file. Its tiles are then copied, even if re-encoded ones would be
  ///   smaller.
  static func tiff(_ file: TIFFFile, _ options: BuildOptions, isSlide: Bool) throws(BuildError) -> Way {
    if let obstacle = file.obstacle { return .libvips(obstacle) }
    var file = file
    guard let ability = try TIFFAbility(&file) else { return .libvips("its JPEG data's other colours") }
    let (way, reason) = try way(file, ability, options, isSlide: isSlide)
    return .native(
      TIFFSource(file, way, tileSize: options.tileSize, keepsPlanes: ability.hasPlanes), reason)
  }

  private static func way(
    _ file: TIFFFile, _ ability: TIFFAbility, _ options: BuildOptions, isSlide: Bool
  ) throws(BuildError) -> (TIFFSource.Path, String) {
    let pieces = file.isTiled ? "TIFF tiles" : "TIFF strips"
    if options.fidelity == .exact { return (.rows, "exact: as asked, \(pieces) decoded side by side") }
    if options.downsampling == .linear {
      return (.rows, "exact: \(pieces) decoded side by side, for linear light")
    }
    let rows = (TIFFSource.Path.rows, "exact: \(pieces) decoded side by side")
    if options.picksPixels { return rows }
    guard file.isJPEG, options.coding == .jpeg, options.tileSize % 16 == 0 else { return rows }
    let usual =
      ability.hasPlanes && options.subsampling != .none
      ? (TIFFSource.Path.planes, "planar: the \(pieces) keep their JPEG's samples") : rows
    if options.fidelity == .fast { return usual }
    guard ability.hasSequentialTiles, options.allowsChroma(ability) else { return usual }
    let isSame = file.chunkWidth == options.tileSize && file.chunkHeight == options.tileSize
    var whose = isSame ? "the \(pieces) are copied" : "cut from the \(pieces)' coefficients"
    if options.fidelity == .auto, isSlide {
      whose += ", being a slide's"
    } else if options.fidelity == .auto {
      guard !ability.hasFineChroma || !options.subsampling.halvesChroma(atQuality: options.quality) else {
        return usual
      }
      guard JPEGFile.areNoFiner(ability.tables, thanQuality: options.quality) else {
        let what = isSame ? "copies" : "their coefficients"
        return (usual.0, usual.1 + "; \(what) would be larger than quality \(options.quality)")
      }
      whose += isSame ? ", they are no larger" : ", which are no larger"
    }
    if isSame { return (.copies, "lossless: \(whose)") }
    let survey = try TIFFTileSurvey(file)
    guard let mcu = survey.mcu else {
      return (usual.0, usual.1 + (survey.obstacle.map { "; not cut from coefficients, for \($0)" } ?? ""))
    }
    return (.coefficients(mcu), "lossless: \(whose)")
  }
}

extension BuildOptions {
  /// Whether tiles may have the chroma subsampling of the TIFF's tiles.
  fileprivate func allowsChroma(_ ability: TIFFAbility) -> Bool {
    switch subsampling {
    case .half: ability.hasPlanes
    case .none: ability.hasFineChroma
    default: true
    }
  }
}
