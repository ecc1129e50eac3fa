import Foundation
import TileStorage
import ZigguratMetadata

@testable import PyramidBuilding

extension FuzzInput {
  func readMetadata() {
    let metadata = ImageMetadata(embeddedInFileAt: path)
    precondition(metadata.title != "", "a title that is empty is none")
    // The archive stores it as JSON.
    precondition(ImageMetadata(json: Data(metadata.json)) == metadata, "what was read can be kept")
  }

  /// Reads a book's description, writes it and reads it again.
  func readBook() {
    guard let book = try? BookDescription(json: bytes), book.json.count <= BookDescription.maxLength else {
      return
    }
    precondition((try? BookDescription(json: book.json)) == book, "what was read can be kept")
  }

  func readOME() {
    let text = String(decoding: bytes, as: UTF8.self)
    if let microns = OMEScale.microns(text) {
      precondition(microns.x > 0 && microns.y > 0, "a pixel has a size")
    }
    guard let pixels = OMEPixels(text) else { return }
    precondition(
      1...(1 << 16) ~= pixels.channels.count && pixels.planeCount <= 1 << 20, "what is counted is bounded")
    for channel in pixels.channels.indices {
      let page = pixels.page(channel: channel, z: pixels.sizeZ / 2, t: 0)
      precondition(page.map { $0 >= 0 } ?? true, "a page is none or counted from 0")
    }
  }

  /// Edits a sidecar and checks that the result has the edit. Input that is no sidecar is rejected.
  func readSidecar() {
    let own = ImageMetadata()
    guard let edit = try? MetadataEdit(json: Array(#"{"caption": "Text <&> 虫"}"#.utf8)) else {
      preconditionFailure("an edit")
    }
    // A sidecar that Exiv2 could not read again is rejected and stays unchanged.
    guard let edited = try? Sidecar.edited(bytes, edit) else { return }
    guard let after = (try? Sidecar(edited))?.applied(to: own) else {
      preconditionFailure("what was edited can be read")
    }
    precondition(after.caption == edit.caption, "the edit is in it")
  }
}
