import Foundation
import Glibc
import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratSandbox

/// The files that a source's sandboxed process must be able to read, by the source's first bytes and its name.
struct SourceNeeds {
  let path: String
  private let handle: ReadableFile
  private let decoding: DecodingNeeds

  init(_ file: SourceFile) {
    path = file.path
    handle = file.handle
    decoding = DecodingNeeds(of: handle, path: path)
  }

  /// Whether the process needs more than the source's file and the usual decoders.
  var isUncommon: Bool {
    decoding.drawsText || !decoding.tables.isEmpty || preload != nil || !companions.isEmpty
      || !listedFiles.isEmpty
  }

  var isPDF: Bool { decoding.isPDF }

  /// The preload of the zygote before a sandboxed process decodes the source; nil if it needs none.
  var preload: ProcessLauncher.Preload? { decoding.preload }

  /// Opens the source and the other files that it needs. The caller closes them.
  func openFiles() -> [Int32] {
    if isInMemory { return [] }
    let itself = fcntl(handle.descriptor, F_DUPFD_CLOEXEC, 0)
    let others = (companions + decoding.tables + (decoding.drawsText ? Self.fonts : [])).map { path in
      open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    }
    let own = ([itself] + others).filter { $0 >= 0 }
    return own + listedFiles.prefix(ProcessLauncher.maxFiles - own.count).compactMap(Self.openListed)
  }

  /// Opens a regular file, but no folder and no link: the name comes from an untrusted file.
  private static func openListed(_ path: String) -> Int32? {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW)
    var status = stat()
    guard descriptor >= 0 else { return nil }
    if fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG { return descriptor }
    close(descriptor)
    return nil
  }

  /// Opens a source that has only the name of a descriptor.
  static func openNameless(_ path: String) -> Int32? {
    guard path.hasPrefix(nameless) else { return nil }
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    return descriptor < 0 ? nil : descriptor
  }

  static let nameless = "/proc/self/fd/"

  /// Whether the source is a file in memory, to which Landlock's rules for file systems do not apply.
  private var isInMemory: Bool {
    guard path.hasPrefix(Self.nameless) else { return false }
    var target = [UInt8](repeating: 0, count: "/memfd:".utf8.count)
    let count = path.withCString { path in
      target.withUnsafeMutableBytes { readlink(path, $0.baseAddress!, $0.count) }
    }
    return count == target.count && target.elementsEqual("/memfd:".utf8)
  }

  private var name: Substring { path.split(separator: "/").last ?? "" }

  /// The folder of a MIRAX slide, which has the file's name.
  private var companions: [String] {
    let folder = name.dropLast(5)
    guard name.lowercased().hasSuffix(".mrxs"), !folder.allSatisfy({ $0 == "." }) else { return [] }
    return ["\(parentFolder(path))/\(folder)"]
  }

  /// The files beside the source that it needs. The samples of an Analyze file are in one.
  private var listedFiles: [String] { AnalyzePair.companion(of: path).map { [$0] } ?? slideFiles }

  /// The files of a Hamamatsu slide, which a short text lists. Other files of the folder stay inaccessible, because it
  /// may be a home directory.
  private var slideFiles: [String] {
    guard [".vms", ".vmu"].contains(where: name.lowercased().hasSuffix),
      let file = FileHandle(forReadingAtPath: path), let text = try? file.read(upToCount: Self.maxListLength)
    else { return [] }
    var names: [String] = []
    for line in text.split(whereSeparator: { $0 == 0x0a || $0 == 0x0d }) {
      let parts = line.split(separator: UInt8(ascii: "="), maxSplits: 1)
      guard parts.count == 2 else { continue }
      let (key, value) = (Self.trimmed(parts[0]), Self.trimmed(parts[1]))
      let isPart = ["ImageFile", "MapFile", "OptimisationFile", "MacroImage"].contains(where: key.hasPrefix)
      guard isPart, !value.isEmpty, !value.hasPrefix("."), !value.contains(where: { "/\\\0".contains($0) }),
        !names.contains(value)
      else { continue }
      names.append(value)
      if names.count == ProcessLauncher.maxFiles { break }
    }
    return names.map { "\(parentFolder(path))/\($0)" }
  }

  /// Maximum bytes of that text, as in OpenSlide.
  private static let maxListLength = 64 << 10

  private static func trimmed(_ bytes: Data) -> String {
    String(decoding: bytes, as: UTF8.self).trimmingCharacters(in: .whitespaces)
  }

  /// Without fonts, letters would be missing without an error.
  private static let fonts = [
    "/usr/share/fonts", "/usr/local/share/fonts", "/etc/fonts", "/usr/share/fontconfig",
    "/var/cache/fontconfig",
    "/usr/share/poppler", "/usr/share/ghostscript",
  ]
}
