package import Files
import Glibc
package import TileStorage

/// The file from which an archive was built, where it is kept beside it.
package struct KeptSource: Sendable {
  package let file: MappedFile
  package let kind: ImageSignature
  /// Of the file's name, without its dot, as it was sent.
  package let ending: String

  /// - Parameters:
  ///   - id: of an image by itself: a page's source is its book's.
  ///   - root: the library's folder, out of which no link leads.
  package init?(of id: ImageID, in root: String) {
    let folder = id.folder.map { "\(root)/\($0)" } ?? root
    guard let enclosure = try? Enclosure(root), let listing = opendir(folder) else { return nil }
    defer { closedir(listing) }
    let start = id.name + "."
    var names: [String] = []
    while let entry = readdir(listing) {
      if let name = entry.pointee.name, name.hasPrefix(start), !name.dropFirst(start.count).contains(".") {
        names.append(name)
      }
    }
    for name in names.sorted() {
      // Archives, words and whatever else lies there are no pictures.
      if let file = try? MappedFile(path: "\(folder)/\(name)", within: enclosure),
        let kind = ImageSignature(file.bytes.prefix(ImageSignature.byteCount))
      {
        (self.file, self.kind, ending) = (file, kind, String(name.dropFirst(start.count)))
        return
      }
    }
    return nil
  }

  package var mediaType: String { "image/\(kind.rawValue)" }
}
