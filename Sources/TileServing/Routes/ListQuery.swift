import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratImageLibrary
import ZigguratText
import ZigguratTileProtocols

/// A cursor of `/api/images`: the repository in which the next page begins, and the cursor there.
struct ListPosition: Hashable {
  let repository: ImageReference.Repository
  let cursor: String

  init(_ cursor: String, in repository: ImageReference.Repository) {
    self.repository = repository
    self.cursor = cursor
  }

  /// Parses the text of a position. The cursor in it may be invalid.
  init(_ text: String) { (repository, cursor) = ImageReference.parts(of: text) }

  var text: String { repository.mark + cursor }
}

/// The query of `/api/images`, checked once.
struct ListQuery {
  static let parameters = ["limit", "cursor", "q", "sort", "folder", "book", "fields"]

  private(set) var limit = 100
  let position: ListPosition?
  /// The images to list, by ids of `repository`.
  private(set) var selection = LibrarySelection()
  /// The repository of the folder or book that is listed; nil if neither is given.
  private(set) var repository: ImageReference.Repository?
  private(set) var fields = ListedItem.Fields.usual

  /// The invalid parameters.
  struct ValidationError: Error {
    let errors: [InvalidInput]
  }

  /// - Parameter parameters: the decoded names and values.
  init(_ parameters: [(name: String, value: String)]) throws(ValidationError) {
    var values: [String: String] = [:]
    var errors: [InvalidInput] = []
    // The name that the client used.
    var bookName = "book"
    func refuse(_ name: String, _ detail: String) { errors.append(InvalidInput(parameter: name, detail)) }
    func refuse(_ name: String, _ value: String, takes allowed: String) {
      refuse(name, "\(name) is '\(value.prefix(40))'; it takes \(allowed)")
    }
    for (sentName, value) in parameters {
      if errors.count == InvalidInput.maximum { break }
      let name = DeprecatedNames.present(sentName, among: Self.parameters)
      if name == "book" { bookName = sentName }
      if !Self.parameters.contains(name) {
        refuse(name, UnknownParameter(name, besides: Self.parameters).description)
      } else if values.updateValue(value, forKey: name) != nil {
        refuse(sentName, "\(sentName) is given twice")
      }
    }
    position = values["cursor"].flatMap { $0.isEmpty ? nil : ListPosition($0) }
    selection.text = values["q"]
    if let text = values["limit"] {
      if let number = DecodedQuery.number(text), (1...1000).contains(number) {
        limit = number
      } else {
        refuse("limit", text, takes: "a whole number from 1 to 1000")
      }
    }
    if let text = values["sort"] {
      if let order = ListOrder(text) {
        selection.order = order
      } else {
        refuse(
          "sort", text,
          takes: "\(ListOrder.names.joined(separator: ", ")), each also with - in front for the reverse order"
        )
      }
    }
    if let position {
      let cursor = ListCursor(position.cursor)
      if cursor == nil || cursor?.order != selection.order {
        refuse("cursor", position.text, takes: "'nextCursor' of the page before, in the same order")
      }
    }
    if let text = values["folder"] {
      if let folder = ImageReference(text.hasSuffix("/") ? String(text.dropLast()) : text) {
        selection.scope = .folder(folder.id)
        repository = folder.repository
      } else {
        refuse("folder", text, takes: "a part of ids in front of a slash, such as paintings")
      }
    }
    if let text = values["book"] {
      if values["folder"] != nil {
        refuse(bookName, "\(bookName) cannot be used with folder")
      } else if let book = ImageReference(text) {
        selection.scope = .book(book.id)
        repository = book.repository
      } else {
        refuse(bookName, text, takes: "the id of a book")
      }
    }
    if let text = values["fields"] {
      let (fields, unknown) = Self.fields(text)
      self.fields = fields
      errors += unknown
    }
    if !errors.isEmpty { throw ValidationError(errors: errors) }
  }

  private static func fields(_ text: String) -> (ListedItem.Fields, [InvalidInput]) {
    if text == "all" { return (.all, []) }
    let names = text.split(separator: ",", omittingEmptySubsequences: false).map { name in
      DeprecatedNames.fields[String(name)] ?? String(name)
    }
    let unknown = names.lazy.filter { !ListedItem.Fields.names.contains($0) }.prefix(InvalidInput.maximum).map
    {
      name in
      let hint =
        nearest(name, ListedItem.Fields.names).map { "did you mean '\($0)'?" }
        ?? "it takes all, or with commas between \(ListedItem.Fields.names.joined(separator: ", "))"
      return InvalidInput(parameter: "fields", "fields has '\(name.prefix(40))'; \(hint)")
    }
    return (.some(Set(names)), Array(unknown))
  }
}
