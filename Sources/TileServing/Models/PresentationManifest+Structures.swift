import ZigguratHTTPMessages
import ZigguratMetadata
import ZigguratText

/// The parts of a book, as ranges of its canvases (Presentation 3.0, section 5.4).
extension PresentationManifest {
  /// A part of a book: a range of pages and the parts within it.
  private struct Part {
    let title: String
    let pages: Range<Int>
    var parts: [Part] = []
  }

  /// Returns the book's chapters, or else its folders; `nil` if it has neither.
  func structures(_ canvases: [String]) -> JSONValue? {
    var parts = chapters(book?.chapters ?? [])
    if parts.isEmpty { parts = folders(pages.map { folders(of: $0) }[...], first: 0) }
    guard !parts.isEmpty else { return nil }
    // Untrusted chapters may all begin on the first page and end on the last one.
    var room = 8 * pages.count + 2000
    var count = 0
    return .list(parts.map { range($0, canvases, &room, &count) })
  }

  private func range(_ part: Part, _ canvases: [String], _ room: inout Int, _ count: inout Int) -> JSONValue {
    count += 1
    let id = "\(place)/range/\(count)"
    // Pages before the first nested part belong to the part itself.
    let own =
      part.pages
      .lowerBound..<max(part.parts.first?.pages.lowerBound ?? part.pages.upperBound, part.pages.lowerBound)
    var items: [JSONValue] = own.prefix(part.parts.isEmpty ? max(room, 1) : max(room, 0)).map {
      ["id": .text(canvases[$0]), "type": "Canvas"]
    }
    room -= items.count
    for part in part.parts { items.append(range(part, canvases, &room, &count)) }
    return ["id": .text(id), "type": "Range", "label": Self.text(part.title), "items": .list(items)]
  }

  // MARK: Chapters

  private func chapters(_ chapters: [BookDescription.Chapter]) -> [Part] {
    guard !chapters.isEmpty else { return [] }
    var places: [String: Int] = [:]
    for (at, page) in pages.enumerated() {
      places[name(ofPage: page)] = at
      if let number = page.entry.page { places[String(number)] = places[String(number)] ?? at }
    }
    let found = chapters.compactMap { chapter in places[chapter.page].map { (chapter, at: $0) } }
    return parts(found[...], end: pages.count)
  }

  /// Returns the outermost chapters, each with its nested ones.
  private func parts(_ chapters: ArraySlice<(BookDescription.Chapter, at: Int)>, end: Int) -> [Part] {
    var parts: [Part] = []
    var rest = chapters
    while let (chapter, at) = rest.first {
      let next = rest.dropFirst().firstIndex { $0.0.level <= chapter.level } ?? rest.endIndex
      let last = next < rest.endIndex ? rest[next].at : end
      // A part has at least one page, even if the next one begins on the same page or before it.
      let pages = at..<max(last, at + 1)
      let within = rest[rest.startIndex + 1..<next]
      parts.append(
        Part(title: chapter.title, pages: pages, parts: self.parts(within, end: pages.upperBound)))
      rest = rest[next...]
    }
    return parts
  }

  // MARK: Folders

  private func folders(of page: FoundEntry) -> ArraySlice<Substring> {
    name(ofPage: page).split(separator: "/").dropLast()
  }

  private func folders(_ folders: ArraySlice<ArraySlice<Substring>>, first: Int) -> [Part] {
    var parts: [Part] = []
    var at = folders.startIndex
    while at < folders.endIndex {
      guard let name = folders[at].first else {
        at += 1
        continue
      }
      let end = folders[at...].firstIndex { $0.first != name } ?? folders.endIndex
      let within = folders[at..<end].map { $0.dropFirst() }
      // Positions are relative to the first page of the part.
      let start = first + at - folders.startIndex
      parts.append(
        Part(
          title: String(name), pages: start..<start + within.count,
          parts: self.folders(within[...], first: start)))
      at = end
    }
    return parts
  }
}
