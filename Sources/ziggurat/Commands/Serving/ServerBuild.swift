import Foundation
import PyramidBuilding
import TileStorage
import ZigguratConcurrency
import ZigguratFiles

/// The build of a folder of images by the server that shows them: once before it listens, then after each change.
final class ServerBuild: Sendable {
  private let library: String
  /// The folder without symbolic links, so that each name of it has the same archives.
  private let pictures: String
  private let isInCache: Bool
  private let first = OneShotEvent()
  private let last = OneShotEvent()

  /// Creates the build; nil without `--build`.
  init?(_ settings: ServerConfiguration.LibrarySettings) {
    guard let pictures = settings.pictures else { return nil }
    let real = realpath(pictures, nil)
    defer { free(real) }
    self.pictures = real.map { String(cString: $0) } ?? pictures
    library = settings.location
    isInCache = settings.isInCache
  }

  /// Builds the archives once, with reports on stderr like `ziggurat build`, and starts to watch the folder.
  ///
  /// - Throws: an error of the folder of archives; a ``ReportedFailure`` if a signal interrupts the first build.
  func run(_ signals: ServerSignals) throws {
    var builder = LibraryBuilder(
      store: FolderStore(library: library), options: BuildOptions(),
      jobs: ProcessInfo.processInfo.activeProcessorCount, isCancelled: { SignalHandler.isAsked })
    builder.imageTimeout = 600
    builder.onIgnored = { Output.note(Output.oneLine($0.description)) }
    if isInCache { try ArchiveCacheFolder.make(library) }
    try builder.prepare()
    Output.note("the archives of \(Output.oneLine(pictures)) are in \(Output.oneLine(library))")
    StartedThread.needed { [self, builder] in
      var round = BuildRun(
        builder: builder, library: library, isPrivate: false, operands: [pictures], asBooks: false,
        prunes: .careful, watches: true, memoryLimit: Int(ProcessInfo.processInfo.physicalMemory / 4),
        verbosity: .changes, asJSON: false)
      round.isOfServer = true
      // The default of --keep-deleted.
      round.keepsDeleted = 86_400
      _ = round.run()
      first.set()
      if !SignalHandler.isAsked { _ = round.watch() }
      last.set()
    }
    while !first.isSet {
      if signals.wait(milliseconds: 100) == .end { SignalHandler.ask() }
    }
    if SignalHandler.isAsked { throw ReportedFailure(exitCode: .interrupted) }
  }

  /// Cancels the build, which leaves no unfinished archives.
  func stop() {
    SignalHandler.ask()
    last.wait(upTo: 10)
  }
}
