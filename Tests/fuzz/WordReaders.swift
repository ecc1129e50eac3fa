import Foundation
import Metadata
import TileStorage

extension FuzzInput {
  func readMetadata() {
    let metadata = ImageMetadata(embeddedInFileAt: path)
    precondition(metadata.title != "", "a title that is empty is none")
    // It goes into the archive as JSON and comes back from there.
    precondition(ImageMetadata(json: Data(metadata.json)) == metadata, "what was read can be kept")
  }

  /// What is edited is read back with the edit in it, or was no sidecar before.
  func readSidecar() {
    let own = ImageMetadata()
    guard let edit = try? MetadataEdit(json: Array(#"{"caption": "Words <&> 虫"}"#.utf8)) else {
      preconditionFailure("an edit")
    }
    // What Exiv2 could not read again is refused, and stays as it was.
    guard let edited = try? Sidecar.edited(bytes, edit) else { return }
    guard let after = (try? Sidecar(edited))?.applied(to: own) else {
      preconditionFailure("what was edited can be read")
    }
    precondition(after.caption == edit.caption, "the edit is in it")
  }
}
