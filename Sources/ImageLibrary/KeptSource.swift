package import Files
package import TileStorage

/// The file from which an archive was built, where it is kept beside it.
package struct KeptSource: Sendable {
  package let file: MappedFile
  package let kind: ImageSignature
  /// Of the file's name, without its dot, as it was sent.
  package let ending: String

  /// - Parameters:
  ///   - id: of an image by itself: a page's source is its book's.
  ///   - name: of the file as it was sent, as the archive's build record has it.
  ///   - root: the library's folder, out of which no link leads.
  package init?(of id: ImageID, sentAs name: String, in root: String) {
    guard let dot = name.lastIndex(of: "."), let enclosure = try? Enclosure(root) else { return nil }
    ending = String(name[dot...].dropFirst())
    // What became of the file since is nobody's picture, or another's.
    guard !ending.contains("/"),
      let file = try? MappedFile(path: "\(root)/\(id).\(ending)", within: enclosure),
      let kind = ImageSignature(file.bytes.prefix(ImageSignature.byteCount))
    else { return nil }
    (self.file, self.kind) = (file, kind)
  }

  package var mediaType: String {
    // Cameras' formats have no registered type.
    kind == .raw ? "application/octet-stream" : "image/\(kind.rawValue)"
  }
}
