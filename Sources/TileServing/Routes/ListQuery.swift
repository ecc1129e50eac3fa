import Catalog
import Files
import HTTPMessages
import ImageLibrary

/// The query of `/api/images`, checked once.
struct ListQuery {
  static let parameters = ["limit", "cursor", "q", "sort", "folder", "in", "fields"]

  private(set) var limit = 100
  let cursor: String?
  private(set) var selection = LibrarySelection()
  private(set) var fields = ListedImage.Fields.usual

  /// A parameter that cannot be used, in one line.
  struct Refusal: Error {
    let description: String

    init(_ description: String) { self.description = description }
  }

  /// - Parameter parameters: decoded, of known names alone.
  init(_ parameters: [(name: String, value: String)]) throws(Refusal) {
    var values: [String: String] = [:]
    for (name, value) in parameters {
      guard values.updateValue(value, forKey: name) == nil else { throw Refusal("\(name) is given twice") }
    }
    cursor = values["cursor"].flatMap { $0.isEmpty ? nil : $0 }
    selection.text = values["q"]
    if let text = values["limit"] {
      guard let number = Router.number(text), (1...1000).contains(number) else {
        throw Refusal("limit is '\(text.prefix(40))'; it takes a whole number from 1 to 1000")
      }
      limit = number
    }
    if let text = values["sort"] {
      guard let order = ListOrder(text) else {
        throw Refusal(
          "sort is '\(text.prefix(40))'; it takes \(ListOrder.names.joined(separator: ", ")), the other way round with "
            + "- in front")
      }
      selection.order = order
    }
    if let cursor {
      guard let place = ListCursor(ImageID.unmarked(cursor) ?? cursor), place.order == selection.order else {
        throw Refusal(
          "cursor is '\(cursor.prefix(40))'; it takes 'next' of the page before, in the same order")
      }
    }
    if let text = values["folder"] {
      guard let folder = ImageID(text.hasSuffix("/") ? String(text.dropLast()) : text) else {
        throw Refusal(
          "folder is '\(text.prefix(40))'; it takes a part of ids in front of a slash, such as paintings")
      }
      selection.scope = .folder(folder)
    }
    if let text = values["in"] {
      guard values["folder"] == nil else { throw Refusal("in is of a book's pages, which lie in no folder") }
      guard let book = ImageID(text) else {
        throw Refusal("in is '\(text.prefix(40))'; it takes the id of a book")
      }
      selection.scope = .book(book)
    }
    if let text = values["fields"] { fields = try Self.fields(text) }
  }

  private static func fields(_ text: String) throws(Refusal) -> ListedImage.Fields {
    if text == "all" { return .all }
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map(String.init)
    for name in names where !ListedImage.Fields.names.contains(name) {
      let hint =
        nearest(name, ListedImage.Fields.names).map { "did you mean '\($0)'?" }
        ?? "it takes all, or with commas between \(ListedImage.Fields.names.joined(separator: ", "))"
      throw Refusal("fields has '\(name.prefix(40))'; \(hint)")
    }
    return .some(Set(names))
  }
}
