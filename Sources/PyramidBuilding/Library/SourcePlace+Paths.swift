import Glibc
package import TileStorage
package import ZigguratFiles
import ZigguratImaging

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

  /// Returns the paths at which the source of an archive may lie: beside the archive, as the original of an upload, or
  /// in the place of its source root.
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

  /// The state of a source that a build of its place did not report.
  package enum Absence: Hashable, Sendable {
    /// The source does not exist for sure.
    case gone
    /// The folder or file of the place, the source's folder or a link to it leads nowhere or is empty: perhaps the
    /// mount point of a disk that is not mounted.
    case unmounted(String)
    /// A link on the source's path leads out of the place.
    case linked(String)
    /// A file of the source's name exists, or an unreadable folder may hold it.
    case exists(String)
  }

  /// Returns the state of the source of an image, by the image's id alone: a missing archive has no record.
  package func absence(of id: ImageID) -> Absence {
    guard isLocal else { return .exists(path) }
    let roots = isPattern ? SourceScan.glob(path) : [path]
    guard !roots.isEmpty else { return isGone ? .gone : .unmounted(path) }
    // Without a record, the id of a page looks like that of a picture in a folder.
    let below = ImageID(
      prefix.map { String(id.text.utf8.dropFirst($0.text.utf8.count + 1)) ?? "" } ?? id.text)
    var names = [below, below?.folder].compactMap(\.self).map(\.text)
    if isBook {
      // A book is named after the root or a folder below it.
      names += names.map { $0.split(separator: "/").dropFirst().joined(separator: "/") }.filter {
        !$0.isEmpty
      }
    }
    var absence = Absence.gone
    for root in roots {
      var status = stat()
      guard stat(root, &status) == 0 else { return .unmounted(root) }
      guard status.st_mode & S_IFMT == S_IFDIR else {
        absence = .exists(root)
        continue
      }
      for name in names {
        let found = Self.absence(of: name.split(separator: "/").map(String.init), in: root)
        if case .unmounted = found { return found }
        if found != .gone { absence = found }
      }
    }
    return absence
  }

  /// - Parameter parts: the names of the folders below the root, and of the image.
  private static func absence(of parts: [String], in root: String) -> Absence {
    guard let enclosure = try? RootDirectory(root), let name = parts.last else { return .exists(root) }
    func leadsOut(_ path: String) -> Bool {
      guard let target = realpath(path, nil) else { return false }
      defer { free(target) }
      return !enclosure.holds(path: String(cString: target))
    }
    var (folder, link): (String, String?) = (root, nil)
    for part in parts.dropLast() {
      let next = "\(folder)/\(part)"
      guard access(next, F_OK) == 0 else {
        var status = stat()
        if lstat(next, &status) == 0 { return .unmounted(next) }
        break
      }
      if link == nil, leadsOut(next) { link = next }
      folder = next
    }
    if isEmpty(folder) { return .unmounted(folder) }
    guard let directory = opendir(folder) else { return .exists(folder) }
    defer { closedir(directory) }
    while let entry = readdir(directory) {
      guard let file = entry.pointee.name, file == name || ImageFileName.stem(file) == name else { continue }
      let path = "\(folder)/\(file)"
      var status = stat()
      guard stat(path, &status) == 0 else { return .unmounted(path) }
      // A folder of that name is the folder of other images.
      if status.st_mode & S_IFMT == S_IFDIR { continue }
      if let link = link ?? (leadsOut(path) ? path : nil) { return .linked(link) }
      return .exists(path)
    }
    return .gone
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
