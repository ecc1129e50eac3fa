/// A value of an option, which has a name on the command line and in records.
package protocol NamedChoice {
  static var all: [Self] { get }
  var name: String { get }
}

extension NamedChoice {
  /// `nil` if no value has that name.
  package init?(name: String) {
    guard let known = Self.all.first(where: { $0.name == name }) else { return nil }
    self = known
  }
}
