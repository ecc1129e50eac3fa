import Glibc
package import TileStorage
package import ZigguratFiles

extension SourcePlace {
  /// Returns the paths at which the source of an image may lie in this place, the likeliest first.
  func paths(of id: ImageID, _ record: BuildRecord?) -> [String] {
    var status = stat()
    if stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR { return [path] }
    guard let name = record?.sourceName else { return [path] }
    let below = prefix.map { String(id.text.utf8.dropFirst($0.text.utf8.count + 1)) ?? "" } ?? id.text
    var folder = ImageID(below)?.folder
    // The id of a page, or of a picture that the source holds beside its own, is the source's with a name behind it.
    if let record, record.page != nil && record.folio == nil || record.associatedAs != nil {
      folder = folder?.folder
    }
    var folders = [folder?.text ?? ""]
    // A book is named after the root or a folder below it.
    if isBook {
      folders.append(String(folders[0].split(separator: "/").dropFirst().joined(separator: "/")))
    }
    let roots = isPattern ? SourceScan.glob(path) : [path]
    let found = roots.flatMap { root in
      let isFile = stat(root, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
      if isFile { return root.hasSuffix("/\(name)") ? [root] : [] }
      return folders.map { $0.isEmpty ? "\(root)/\(name)" : "\(root)/\($0)/\(name)" }
    }
    guard isPattern else { return found + (path.hasSuffix("/\(name)") ? [path] : []) }
    // A pattern does not match a file that does not exist, but names the folders of such a file.
    var missing: [String] = []
    for folder in SourceScan.glob(parentFolder(path)) {
      let candidate = "\(folder)/\(name)"
      let isFound = found.contains { $0.utf8.elementsEqual(candidate.utf8) }
      if !isFound, fnmatch(path, candidate, FNM_PATHNAME) == 0 { missing.append(candidate) }
    }
    return found + missing
  }

  /// Returns the paths at which the source of an archive may lie: beside the archive, as the original of an upload, or in
  /// the place of its source root.
  ///
  /// - Parameters:
  ///   - library: the folder of the library.
  ///   - place: the location of the root's pictures; nil if it is unknown.
  package static func paths(
    of id: ImageID, _ record: BuildRecord, below library: String, _ place: SourcePlace?
  ) -> [String] {
    OriginalFile.paths(ofArchive: id.archive(in: library), record) + (place?.paths(of: id, record) ?? [])
  }

  private var isPattern: Bool { path.contains { "*?[".contains($0) } }

  /// Whether this machine can look whether its pictures are there.
  var isLocal: Bool { path.utf8.first == UInt8(ascii: "/") }

  /// Whether nothing is at the place for sure.
  var isGone: Bool {
    guard isPattern else { return Self.isGone(path) }
    guard SourceScan.glob(path).isEmpty, Self.isGone(path) else { return false }
    // Each of the nearest folders that exist may be the mount point.
    var (folder, folders): (String, [String]) = (path, [])
    while folders.isEmpty, folder != parentFolder(folder) {
      folder = parentFolder(folder)
      folders = SourceScan.glob(folder)
    }
    return !folders.contains(where: Self.isEmpty)
  }

  /// Whether nothing is for sure at any of the paths of an image; at the place itself if there are no paths.
  func isGone(_ paths: [String]) -> Bool { paths.isEmpty ? isGone : paths.allSatisfy(Self.isGone) }

  /// Returns the empty folder in which the source of an image lay: perhaps the mount point of a disk that is not
  /// mounted. `nil` if the source exists, or is gone for sure.
  func emptyFolder(of id: ImageID, _ record: BuildRecord?) -> String? {
    guard isLocal else { return nil }
    for path in paths(of: id, record) {
      if let folder = Self.nearestFolder(aboveMissing: path), Self.isEmpty(folder) { return folder }
    }
    return nil
  }

  /// Whether a path does not exist, and not because a disk is not mounted: the nearest folder above it that exists is
  /// not empty.
  static func isGone(_ path: String) -> Bool {
    nearestFolder(aboveMissing: path).map { !isEmpty($0) } ?? false
  }

  /// Returns the nearest folder above a path that exists; `nil` if the path exists, or if that is unknown.
  private static func nearestFolder(aboveMissing path: String) -> String? {
    var folder = path
    while access(folder, F_OK) != 0 {
      guard errno == ENOENT || errno == ENOTDIR, folder != parentFolder(folder) else { return nil }
      folder = parentFolder(folder)
    }
    return folder.utf8.elementsEqual(path.utf8) ? nil : folder
  }

  /// Whether a folder holds nothing but hidden files.
  private static func isEmpty(_ folder: String) -> Bool {
    guard let directory = opendir(folder) else { return false }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      if entry.pointee.name?.utf8.first != UInt8(ascii: ".") { return false }
    }
    return true
  }
}
