import Foundation
import ZigguratHTTPMessages
package import ZigguratText

/// The organization or person that provides the content: an Agent in manifests and collections (IIIF Presentation
/// 3.0, section 3.2).
package struct Provider: Codable, Equatable, Sendable {
  package let json: JSONValue

  /// The reason why a file is invalid, in one line.
  package struct ValidationError: Error {
    package let description: String
  }

  /// Parses `Name <https://example.org>`. Returns `nil` if the text has another form.
  package init?(line: String) {
    guard line.hasSuffix(">"), let start = line.lastIndex(of: "<") else { return nil }
    let address = String(line[line.index(after: start)...].dropLast())
    let name = line[..<start].trimmingCharacters(in: .whitespaces)
    guard !name.isEmpty, name.utf8.count <= 500, Self.isAddress(address) else { return nil }
    let label: JSONValue = ["none": [.text(name)]]
    json = [
      "id": .text(address), "type": "Agent", "label": label,
      "homepage": [["id": .text(address), "type": "Text", "label": label, "format": "text/html"]],
    ]
  }

  /// Parses an Agent in JSON. Members that the specification does not define are rejected.
  package init(json file: [UInt8]) throws(ValidationError) {
    guard file.count <= 65_536, let json = try? JSONDecoder().decode(JSONValue.self, from: Data(file)),
      var members = json.members
    else { throw ValidationError(description: "it is not a JSON object of at most 64 KB") }
    try Self.check(members, "the provider", knows: ["id", "type", "label", "homepage", "logo", "seeAlso"])
    if let type = members["type"], type != "Agent" {
      throw ValidationError(description: "its type must be \"Agent\"")
    }
    members["type"] = "Agent"
    try Self.checkLabel(members["label"], "the provider")
    for (name, others, type) in [
      ("homepage", ["language", "format", "label"], nil),
      ("logo", ["format", "width", "height", "service", "label"], "Image"),
      ("seeAlso", ["format", "profile", "label"], nil),
    ] as [(String, [String], JSONValue?)] {
      guard let list = members[name] else { continue }
      guard let elements = list.elements, !elements.isEmpty else {
        throw ValidationError(description: "its \(name) must be a list of objects")
      }
      for element in elements {
        guard let element = element.members, element["type"]?.string?.isEmpty == false else {
          throw ValidationError(description: "each \(name) must be an object with an id and a type")
        }
        try Self.check(element, "its \(name)", knows: ["id", "type"] + others)
        if let type, element["type"] != type {
          throw ValidationError(description: "the type of its \(name) must be \"Image\"")
        }
        if name == "homepage" || element["label"] != nil {
          try Self.checkLabel(element["label"], "its \(name)")
        }
      }
    }
    self.json = .object(members)
  }

  private static func check(
    _ members: [String: JSONValue], _ whose: String, knows names: [String]
  ) throws(ValidationError) {
    if let unknown = members.keys.sorted().first(where: { !names.contains($0) }) {
      let hint =
        nearest(unknown, names).map { "did you mean '\($0)'?" } ?? "it takes \(names.joined(separator: ", "))"
      throw ValidationError(description: "\(whose) has '\(unknown.prefix(40))'; \(hint)")
    }
    guard members["id"]?.string.map(isAddress) == true else {
      throw ValidationError(
        description: "\(whose) needs an id, an address that begins with https:// or http://")
    }
  }

  /// Validates a language map (section 4.1).
  private static func checkLabel(_ label: JSONValue?, _ whose: String) throws(ValidationError) {
    let isSound =
      label?.members.map { languages in
        !languages.isEmpty
          && languages.values.allSatisfy { values in
            values.elements.map { !$0.isEmpty && $0.allSatisfy { $0.string?.isEmpty == false } } ?? false
          }
      } ?? false
    guard isSound else {
      throw ValidationError(description: "\(whose) needs a label such as {\"en\": [\"Example Museum\"]}")
    }
  }

  private static func isAddress(_ text: String) -> Bool {
    guard text.utf8.count <= 2000,
      text.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != 0x3c && $0 != 0x22 }),
      let url = URL(string: text)
    else { return false }
    return ["http", "https"].contains(url.scheme) && url.host?.isEmpty == false
  }
}
