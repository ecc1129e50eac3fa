import PyramidBuilding
import TileStorage
import ZigguratImaging
import ZigguratMetadata
import ZigguratSandbox
import ZigguratTileRendering

/// The sandboxed processes of this program, which decode pictures, read metadata and the like.
enum ProgramWorkers {
  /// Starts the server of these processes. Every command that handles pictures must call it while there is one thread,
  /// and before any secret is known.
  ///
  /// - Parameters:
  ///   - options: the options of the later builds.
  ///   - takesUncommon: whether rare formats are decoded, too: the sources of a build are the user's own.
  ///   - builds: whether pictures will be built, and not only their metadata read.
  /// - Returns: nil, or the exit code of the command after a reported error.
  static func start(
    _ options: BuildOptions = BuildOptions(), takesUncommon: Bool = false, builds: Bool = false
  ) -> ExitCode? {
    do throws(TerminationReason) {
      try ProcessLauncher.start(
        [
          BuildWorker.kind: BuildWorker.work(options), InspectWorker.kind: InspectWorker.work(options),
          MetadataWorker.kind: MetadataWorker.work, RenderWorker.kind: RenderWorker.work,
          TileCheckWorker.kind: TileCheckWorker.work,
        ],
        preload: {
          Vips.preload()
          if !takesUncommon { SourceInspection.forbidUncommonFormats() }
          ImageMetadata.preload()
        },
        trialPreload: { if builds { BuildWorker.preload(options) } },
        preloads: [ImagingPreload.magick: Vips.preloadMagick])
    } catch {
      Output.error("cannot start the processes that decode pictures: \(error)")
      return .temporary
    }
    if let lack = ProcessLauncher.running?.lack { Output.note("this kernel confines less: \(lack)") }
    return nil
  }
}
