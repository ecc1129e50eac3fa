import Foundation
import ZigguratCatalog
import ZigguratFiles
import ZigguratImageLibrary

/// What a server says when it starts, to people.
enum ServeStart {
  /// - Parameters:
  ///   - folder: as it was given.
  ///   - uploads: where uploads go, so that nothing yet is as it should be; nil where none are taken.
  ///   - uploadRefusal: why no uploads are accepted; nil if they are.
  ///   - isWritable: whether changes are taken.
  ///   - viewer: the folder of the viewer's files.
  ///   - tellsCount: where nobody takes each line for one of the log.
  static func tell(
    _ library: any ImageRepository, _ folder: String, uploads: String?, uploadRefusal: String?,
    isWritable: Bool,
    viewer: String?,
    tellsCount: Bool
  ) {
    let count = library.counted()
    if library.isEmpty { Output.note(nothing(in: folder)) }
    if let uploads, access(uploads, W_OK) != 0 {
      let reason = StorageError("", errno: errno).reason
      Output.note("\(Output.oneLine(uploads)) cannot be written: \(reason); changes and uploads will fail")
    }
    if isWritable, let uploadRefusal { Output.note("uploads are refused: \(uploadRefusal)") }
    let noPage = "the viewer's files were not found: there is no page at / without --webroot DIR"
    if tellsCount, count > 0 || uploads != nil {
      let page = viewer.map { "the viewer's files are from \($0)" } ?? noPage
      Output.note("serving \(Output.count(count, "image")) of \(Output.oneLine(folder)); \(page)")
    } else if viewer == nil {
      Output.note(noPage)
    }
  }

  /// Returns the note about a library that shows an empty page.
  static func nothing(in folder: String) -> String {
    let folder = Output.oneLine(folder)
    return "\(folder) contains no archive (.szi, .dzi or .zip). Is its disk mounted? "
      + "To make archives: ziggurat build PICTURES --library \(folder)"
  }
}
