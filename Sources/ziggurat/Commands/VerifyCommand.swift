import Foundation
import Glibc
import PyramidBuilding
import Synchronization
import TileStorage
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratObjectStore
import ZigguratPrivateSpaces

enum VerifyCommand: Command {
  static let name = "verify"
  static let usage = "DIR|ARCHIVE|s3://BUCKET/PREFIX"
  static let summary = "Read every tile; report a line per error, and end with code 1 if there is one."
  static let options = [
    Option(
      "repair",
      help: "Rebuild damaged or missing archives from their sources; missing ones without source are removed"),
    Option(
      "follow-links", help: "With --repair: follow links that lead out of a source folder, as the build did"),
    SecretFile.pdfPasswordOption,
    Option("space", help: "Verify the private space that a password opens, instead of the library"),
    PasswordPrompt.optionOfSpace,
    Option("jobs", "N", default: "all cores", help: "Number of threads"),
    Option("json", help: "Write one JSON object per error and line to stdout"),
    Option("quiet", help: "Report errors only"),
  ]

  static func run(_ arguments: Arguments) throws(UsageError) -> ExitCode {
    let path = try arguments.onlyOperand("library or archive")
    let jobs = try arguments.int("jobs", in: 1...1024) ?? ProcessInfo.processInfo.activeProcessorCount
    let asJSON = try arguments.flag("json")
    let isQuiet = try arguments.flag("quiet")
    let repairs = try arguments.flag("repair")
    let isOfSpace = try arguments.flag("space")
    let followsLinks = try arguments.flag("follow-links")
    let passwordFile = arguments.string("pdf-password-file")
    if followsLinks, !repairs { throw .requires("--follow-links", "--repair") }
    if passwordFile != nil, !repairs { throw .requires("--pdf-password-file", "--repair") }
    if repairs, isOfSpace { throw .conflict("--repair", "--space") }
    let isBucket = ObjectLibrary.isMeant(by: path)
    if isBucket, repairs || isOfSpace {
      throw .conflict(
        repairs ? "--repair" : "--space", "an object store; 'ziggurat build --force' rebuilds archives")
    }
    if let code = ProgramWorkers.start() { return code }
    // As bytes: texts that differ only in the composition of accents are equal, but files with such names are not.
    let damaged = Mutex<Set<[UInt8]>>([])
    let damagedSources = Atomic<Int>(0)
    let report: @Sendable (ArchiveVerifier.Defect) -> Void = { defect in
      if defect.isOfSource {
        damagedSources.add(1, ordering: .relaxed)
        if asJSON {
          Output.json(["archive": .text(defect.path), "sourceDamage": .text(defect.what)])
        } else if !isQuiet {
          Output.note(Output.oneLine(defect.description))
        }
        return
      }
      damaged.withLock { _ = $0.insert(Array(defect.path.utf8)) }
      if asJSON {
        Output.json(["archive": .text(defect.path), "fault": .text(defect.what)])
      } else {
        Output.result(Output.oneLine(defect.description) + "\n")
      }
    }
    let read: Int
    var defects: Int
    var outcome: Repair.Outcome?
    if isOfSpace {
      do throws(ReportedFailure) {
        (read, defects) = try verify(
          SpaceUnlocker.open(path, passwordFile: arguments.string("password-file")), jobs: jobs, report)
      } catch { return error.exitCode }
    } else if isBucket {
      do throws(StorageError) {
        (read, defects) = try verify(bucket: path, jobs: jobs, report)
      } catch {
        Output.error(error.description)
        return error.isTemporary ? .temporary : .someFailed
      }
    } else {
      do throws(StorageError) {
        var unread = 0
        let archives = try FolderTree.archives(at: path) { folder, error in
          unread += 1
          report(ArchiveVerifier.Defect(path: folder, what: "cannot be read: \(error.reason)"))
        }
        read = archives.count
        let missing = archives == [path] ? [] : try missing(path)
        if read == 0, unread == 0, !Catalog.exists(in: path), !PrivateSpaces(library: path).mayExist {
          Output.error("\(path) is not a library: neither an archive nor a catalog is in it")
          return .someFailed
        }
        let enclosure = archives == [path] ? nil : try RootDirectory(path)
        defects = LibraryVerifier.verify(archives, within: enclosure, jobs: jobs, report: report)
        defects += unread
        for archive in missing {
          report(ArchiveVerifier.Defect(path: archive, what: "is missing, and the catalog lists it"))
        }
        defects += missing.count
        for defect in try SlideLabelCheck.defects(in: path, archives) {
          report(defect)
          defects += 1
        }
        if repairs, defects > 0 {
          guard archives != [path] else {
            Output.error("\(path): --repair takes the library's folder, which knows the sources")
            return .someFailed
          }
          let repair = Repair(
            library: path, jobs: jobs, asJSON: asJSON,
            buildOptions: (followsLinks ? ["--follow-links"] : [])
              + (passwordFile.map { ["--pdf-password-file", $0] } ?? []),
            missing: Set(missing))
          outcome = try repair.run(
            damaged.withLock { $0.map { String(decoding: $0, as: UTF8.self) } }.sorted())
        }
      } catch {
        Output.error(error.description)
        return .someFailed
      }
    }
    var hasKeyringDefect = false
    // All spaces share the keyring, and its digest is not secret.
    if let defect = PrivateSpaces(library: path).keyringDefect() {
      report(ArchiveVerifier.Defect(path: "keyring of the private spaces", what: defect))
      defects += 1
      hasKeyringDefect = true
    }
    if !isQuiet {
      Output.note(
        Output.count(read, "archive") + " read, "
          + (defects == 0 ? "no faults" : Output.count(defects, "fault"))
          + (damagedSources.load(ordering: .relaxed) == 0
            ? "" : ", \(damagedSources.load(ordering: .relaxed)) of damaged sources")
          + (outcome.map {
            ", " + Output.count($0.repaired, "archive") + " rebuilt, "
              + ($0.removed.isEmpty ? "" : "\($0.removed.count) removed from the catalog, ")
              + "\($0.left) left"
          } ?? "")
      )
    }
    if let outcome, outcome.repaired + outcome.removed.count == damaged.withLock({ $0.count }),
      !hasKeyringDefect
    {
      return .success
    }
    if let outcome, outcome.isTemporary { return .temporary }
    return defects == 0 ? .success : .someFailed
  }

  /// Returns the paths of archives in the catalog that neither exist nor are deleted, sorted. A server that was killed
  /// after it moved an archive to the trash may have left the row.
  private static func missing(_ library: String) throws(StorageError) -> [String] {
    guard Catalog.exists(in: library) else { return [] }
    let deleted = Set(TrashFolder(library: library).deletions(since: .min).flatMap(\.images))
    var missing: [String] = []
    try Catalog(library: library, isReadOnly: true).forEachFileVersion { id, _ in
      guard let id = ImageID(String(decoding: id, as: UTF8.self)), !deleted.contains(id) else { return }
      // In a folder without permission to enter, an archive does not count as missing.
      let isThere = [".szi", ".dzi", ".zip"].contains {
        access("\(library)/\(id)\($0)", F_OK) == 0 || errno == EACCES
      }
      if !isThere { missing.append(id.archive(in: library)) }
    }
    return missing.sorted()
  }

  private static func verify(
    bucket: String, jobs: Int, _ report: @escaping @Sendable (ArchiveVerifier.Defect) -> Void
  ) throws(StorageError) -> (read: Int, defects: Int) {
    guard let library = try ObjectLibrary.named(bucket, report: Output.error) else { return (0, 0) }
    _ = try library.refresh()
    let images = library.images().sorted { $0.id < $1.id }
    let count = LibraryVerifier.verify(
      images, jobs: jobs,
      defects: { image in
        do throws(StorageError) {
          return try library.withCopy(of: image) { ArchiveVerifier.defects(of: $0, path: image.id.text) }
        } catch { return [ArchiveVerifier.Defect(path: image.id.text, what: error.reason)] }
      }, report: report)
    return (images.count, count)
  }

  private static func verify(
    _ space: PrivateSpace, jobs: Int, _ report: @escaping @Sendable (ArchiveVerifier.Defect) -> Void
  ) throws(ReportedFailure) -> (read: Int, defects: Int) {
    let ids: [ImageID]
    do { ids = try space.ids() } catch {
      Output.error(error.description)
      throw ReportedFailure(exitCode: .someFailed)
    }
    let count = LibraryVerifier.verify(
      ids, jobs: jobs, defects: { defects(ofID: $0, in: space) }, report: report)
    return (ids.count, count)
  }

  private static func defects(ofID id: ImageID, in space: PrivateSpace) -> [ArchiveVerifier.Defect] {
    do throws(StorageError) {
      // A removal of the image meanwhile is not an error.
      guard let archive = try space.archive(ofID: id) else { return [] }
      return ArchiveVerifier.defects(of: archive, path: id.text)
    } catch { return [ArchiveVerifier.Defect(path: id.text, what: error.reason)] }
  }
}
