package import Files
import Glibc
package import TileStorage

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
    let roots = path.contains(where: { "*?[".contains($0) }) ? SourceScan.glob(path) : [path]
    return roots.flatMap { root in
      let isFile = stat(root, &status) == 0 && status.st_mode & S_IFMT != S_IFDIR
      if isFile { return root.hasSuffix("/\(name)") ? [root] : [] }
      return folders.map { $0.isEmpty ? "\(root)/\(name)" : "\(root)/\($0)/\(name)" }
    } + (path.hasSuffix("/\(name)") ? [path] : [])
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
}
