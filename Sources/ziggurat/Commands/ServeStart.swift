import Catalog
import Files
import Foundation
import ImageLibrary

/// What a server says when it starts, to people.
enum ServeStart {
  /// - Parameters:
  ///   - folder: as it was given.
  ///   - uploads: where uploads go, so that nothing yet is as it should be; nil where none are taken.
  ///   - isWritable: whether changes are taken.
  ///   - viewer: the folder of the viewer's files.
  ///   - tellsCount: where nobody takes each line for one of the log.
  static func tell(
    _ library: Library, _ folder: String, uploads: String?, isWritable: Bool, viewer: String?,
    tellsCount: Bool
  ) {
    // What servers share comes and goes, and is not counted yet.
    let count = library.asksForImages ? (try? library.catalog.count()) ?? 0 : library.count
    if count == 0, uploads == nil, !library.asksForImages { Output.note(nothing(in: folder)) }
    if let uploads, access(uploads, W_OK) != 0 {
      let reason = StorageError("", errno: errno).reason
      Output.note("\(Output.oneLine(uploads)) cannot be written: \(reason); changes and uploads will fail")
    }
    if isWritable, uploads == nil { Output.note("uploads are refused: --upload-dir is not given") }
    let noPage = "the viewer's files were not found: there is no page at / without --webroot DIR"
    if tellsCount, count > 0 || uploads != nil {
      let page = viewer.map { "the page is from \($0)" } ?? noPage
      Output.note("serving \(Output.count(count, "image")) of \(Output.oneLine(folder)); \(page)")
    } else if viewer == nil {
      Output.note(noPage)
    }
  }

  /// What would otherwise be an empty page without a word.
  static func nothing(in folder: String) -> String {
    let folder = Output.oneLine(folder)
    return "no image was found in \(folder): it serves .szi, .dzi and .zip pyramids; "
      + "pictures become some by 'ziggurat build PICTURES --library DIR'"
  }
}
