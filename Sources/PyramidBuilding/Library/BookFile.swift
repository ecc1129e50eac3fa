import Glibc
package import TileStorage
import ZigguratFiles
import ZigguratImaging
import ZigguratMetadata

/// The file in which a book is described, in the folder of its pages: `book.json`, or `book.xmp`.
package enum BookFile {
  static let name = BookDescription.fileName

  /// Unless it is of a picture of that name.
  static let sidecar = "book" + SidecarFile.ending

  /// Whether a folder with these files describes a book.
  static func isDescribed(by names: [String]) -> Bool {
    names.contains(name)
      || names.contains(sidecar)
        && !names.contains { ImageFileName.isKnown($0) && ImageFileName.stem($0) == "book" }
  }

  /// Copies the descriptions of a scan's books to the store and removes those that the sources no longer have. A file
  /// that is no description is a failure and changes nothing. A book of another source keeps its description.
  /// - Parameter meant: returns the word of a list that another word was probably meant for.
  /// - Returns: failures, and warnings about descriptions that are used: chapters that lead nowhere, unknown members.
  package static func take(
    _ scan: SourceScan, into store: any ArchiveStore, ownership: ImageOwnership?,
    meant: (String, [String]) -> String?
  ) -> (failures: [BuildError], doubts: [BuildError]) {
    var (failures, doubts): ([BuildError], [BuildError]) = ([], scan.doubts)
    var bound: [ImageID: SourceScan.Source] = [:]
    for source in scan.sources {
      if let book = source.book, bound[book] == nil { bound[book] = source }
    }
    for book in Set(bound.keys).union(scan.books.keys).sorted() {
      let folder = scan.books[book]
      do throws(StorageError) {
        // Its pages were reported.
        if let page = bound[book], try ownership?.refusal(ofBook: book, from: page) != nil { continue }
      } catch {
        failures.append(BuildError(folder ?? book.text, error))
        continue
      }
      do throws(BuildError) {
        var description: BookDescription?
        if let folder {
          var warnings: [String] = []
          description = try read(folder, &warnings, meant)
          let clauses = description.map { warnings + Self.astray($0, scan.pages(of: book)) } ?? []
          if !clauses.isEmpty {
            doubts.append(BuildError("\(folder)/\(name)", clauses.joined(separator: "; ")))
          }
        }
        try keep(description, of: book, in: store)
      } catch { failures.append(error) }
    }
    return (failures, doubts)
  }

  /// Returns the links that lead to pages which do not exist, a clause each.
  private static func astray(_ book: BookDescription, _ pages: Set<String>) -> [String] {
    func isThere(_ page: String) -> Bool {
      pages.contains(page) || Int(page).map { (1...max(pages.count, 1)).contains($0) } ?? false
    }
    let lost = book.chapters.filter { !isThere($0.page) }
    var clauses: [String] = []
    if let first = lost.first {
      clauses.append(
        lost.count == 1
          ? "its chapter '\(first.title)' leads to the page '\(first.page)', which there is not"
          : "\(lost.count) of its chapters lead to pages that there are not, the first to '\(first.page)'")
    }
    if let cover = book.cover, !isThere(cover) {
      clauses.append("its cover is the page '\(cover)', which there is not")
    }
    return clauses
  }

  /// - Parameter description: the description; nil removes it.
  static func keep(
    _ description: BookDescription?, of book: ImageID, in store: any ArchiveStore
  ) throws(BuildError) {
    var description = description.flatMap { $0.isEmpty ? nil : $0 }
    description?.cutChapters(to: BookDescription.maxLength)
    description = description?.asBuilt
    do throws(StorageError) {
      let old = store.bookFile(of: book)
      let isOfSomebody = old.map { (try? BookDescription(json: $0))?.isUntouched != true } ?? false
      guard !isOfSomebody, old != description?.json else { return }
      try store.keep(bookFile: description?.json, of: book)
    } catch { throw BuildError(book.text, error) }
  }

  private static func read(
    _ folder: String, _ warnings: inout [String], _ meant: (String, [String]) -> String?
  ) throws(BuildError) -> BookDescription? {
    if let file = SidecarFile(path: "\(folder)/\(name)") {
      let bytes: [UInt8]
      do throws(StorageError) {
        bytes = try file.contents(atMost: BookDescription.maxLength + 1, within: nil)
      } catch {
        throw BuildError(file.path, error)
      }
      do throws(BookDescription.ValidationError) {
        let description = try BookDescription(json: bytes)
        warnings = BookDescription.warnings(json: bytes, meant: meant)
        return description
      } catch { throw BuildError(file.path, error.description) }
    }
    guard access("\(folder)/\(name)", F_OK) != 0 else {
      throw BuildError("\(folder)/\(name)", "is not a file that can be read")
    }
    guard let file = SidecarFile(path: "\(folder)/\(sidecar)") else { return nil }
    guard let bytes = file.bytes(within: nil) else { throw BuildError(file.path, "cannot be read") }
    let metadata: Sidecar?
    do throws(MetadataUnavailable) { metadata = try Sidecar(bytes) } catch {
      throw BuildError(file.path, error.description, isTemporary: true)
    }
    guard let metadata else { throw BuildError(file.path, "is not XMP") }
    var description = BookDescription()
    description.metadata = metadata.applied(to: ImageMetadata())
    return description
  }
}
