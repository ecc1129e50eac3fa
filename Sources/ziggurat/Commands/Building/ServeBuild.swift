import Foundation
import PyramidBuilding
import TileStorage
import ZigguratFiles
import ZigguratThreads

/// The build of a folder of pictures by the server that shows them: once before it listens, then of what is added,
/// changed and removed.
final class ServeBuild: Sendable {
  static let options = [
    Option(
      "build", isCommon: true,
      help: "Build archives of the images in DIR first, then of those that are added or changed"),
    Option(
      "library", "DIR", default: "below ~/.cache", requires: "build", isCommon: true,
      help: "Folder for the archives of --build"),
  ].grouped(.library)

  let library: String
  /// Where it really is: what was built by another name is the same.
  private let pictures: String
  private let isCache: Bool
  private let first = Flag()
  private let last = Flag()

  /// Nil where nothing is to be built.
  init?(_ arguments: Arguments, pictures: String) throws(UsageError) {
    guard try arguments.flag("build") else { return nil }
    for other in ["writable", "space"] where try arguments.flag(other) {
      throw .conflict("--build", "--" + other)
    }
    var status = stat()
    guard stat(pictures, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
      throw .requires("--build", "a folder of images ('\(pictures)' is not a folder)")
    }
    let named = arguments.string("library")
    guard let library = named ?? PictureCache.path(of: pictures, ProcessInfo.processInfo.environment) else {
      throw .requires("--build", "--library DIR (HOME is not set, so there is no folder for a cache)")
    }
    var other = stat()
    if stat(library, &other) == 0, other.st_dev == status.st_dev, other.st_ino == status.st_ino {
      throw arguments.invalid("library", expected: "another folder than that of the images")
    }
    let real = realpath(pictures, nil)
    defer { free(real) }
    self.pictures = real.map { String(cString: $0) } ?? pictures
    self.library = library
    isCache = named == nil
  }

  /// Builds what is there. Others are told of it on stderr, as by `ziggurat build`.
  /// - Returns: nil, or what the command ends with.
  func run(_ signals: ServerSignals) -> ExitCode? {
    var builder = LibraryBuilder(
      store: FolderStore(library: library), options: BuildOptions(),
      jobs: ProcessInfo.processInfo.activeProcessorCount, isCancelled: { Interruption.isAsked })
    builder.imageTimeout = 600
    builder.onIgnored = { Output.note(Output.oneLine($0.description)) }
    do throws(StorageError) {
      if isCache { try PictureCache.make(library) }
      try builder.prepare()
    } catch {
      Output.error(error.description)
      return error.isTemporary ? .temporary : .someFailed
    }
    Output.note("the archives of \(Output.oneLine(pictures)) are in \(Output.oneLine(library))")
    StartedThread.needed { [self, builder] in
      var round = BuildRound(
        builder: builder, library: library, isPrivate: false, operands: [pictures], asBooks: false,
        prunes: .careful, watches: true, memoryLimit: Int(ProcessInfo.processInfo.physicalMemory / 4),
        verbosity: .changes, asJSON: false)
      round.isOfServer = true
      // A day, as what visitors delete is kept.
      round.keepsDeleted = 86_400
      _ = round.run()
      first.set()
      if !Interruption.isAsked { _ = round.watch() }
      last.set()
    }
    while !first.isSet {
      if signals.wait(milliseconds: 100) == .end { Interruption.ask() }
    }
    return Interruption.isAsked ? .interrupted : nil
  }

  /// Ends what is being built; nothing of it is left.
  func stop() {
    Interruption.ask()
    last.wait(upTo: 10)
  }
}
