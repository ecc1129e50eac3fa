import PyramidBuilding
import TileStorage
import ZigguratCells
import ZigguratImaging
import ZigguratMetadata
import ZigguratTileRendering

/// The cells of this program: what decodes pictures, read metadata and the like.
enum ProgramCells {
  /// To be called by every command that meets pictures, while there is one thread and before a secret is known.
  ///
  /// - Parameters:
  ///   - options: of the builds to come.
  ///   - takesUncommon: formats that hardly any picture has are decoded, too: what is built is somebody's own.
  ///   - builds: pictures are going to be built, and not only their words read.
  /// - Returns: nil, or what the command ends with: its reason is told.
  static func start(
    _ options: BuildOptions = BuildOptions(), takesUncommon: Bool = false, builds: Bool = false
  ) -> ExitCode? {
    do throws(CellEnd) {
      try CellServer.start(
        [
          BuildCell.kind: BuildCell.work(options), InspectCell.kind: InspectCell.work(options),
          MetadataCell.kind: MetadataCell.work, RenderCell.kind: RenderCell.work,
          TileCheckCell.kind: TileCheckCell.work,
        ],
        warm: {
          Vips.warm()
          if !takesUncommon { SourceInspection.forbidUncommonFormats() }
          ImageMetadata.warm()
        },
        rehearsal: { if builds { BuildCell.warm(options) } },
        warmths: [ImagingWarmth.magick: Vips.warmMagick])
    } catch {
      Output.error("cannot start the processes that decode pictures: \(error)")
      return .temporary
    }
    if let lack = CellServer.running?.lack { Output.note("this kernel confines less: \(lack)") }
    return nil
  }
}
