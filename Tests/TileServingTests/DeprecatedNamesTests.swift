import Testing
import ZigguratCatalog
import ZigguratFiles
import ZigguratHTTPMessages
import ZigguratTileProtocols

@testable import ZigguratTileServing

/// Names of version 0.1 in requests.
@Suite struct DeprecatedNamesTests {
  private typealias Parameters = [(name: String, value: String)]

  private static let window: Parameters = [("width", "300"), ("height", "200")]

  private func errors(_ parameters: Parameters) -> [InvalidInput] {
    do throws(ViewportQuery.ValidationError) {
      _ = try ViewportQuery(Self.window + parameters)
      return []
    } catch { return error.errors }
  }

  private func listErrors(_ parameters: Parameters) -> [InvalidInput] {
    do throws(ListQuery.ValidationError) {
      _ = try ListQuery(parameters)
      return []
    } catch { return error.errors }
  }

  @Test func `a viewport accepts present and deprecated parameter names`() throws {
    let present = try ViewportQuery(
      Self.window + [("buffer", "2"), ("include", "overview,description"), ("v", "1f")])
    #expect(present.buffer == 2 && present.include == [.overview, .description])
    let former = try ViewportQuery(
      Self.window + [("margin", "2"), ("overview", "true"), ("describe", "1"), ("g", "1f")])
    #expect(former.buffer == present.buffer && former.include == present.include)
    #expect(try ViewportQuery(Self.window + [("overview", "false"), ("describe", "0")]).include.isEmpty)
    #expect(try ViewportQuery(Self.window + [("include", "description")]).include == [.description])
  }

  @Test(arguments: ["", ",", "overview,", "overview,overview", "Overview", "all", "overview description"])
  func `include accepts known items, each once`(_ value: String) {
    let errors = errors([("include", value)])
    #expect(errors.map(\.place) == [.parameter("include")])
    #expect(errors.first?.detail.contains("overview, description") == true)
  }

  @Test func `an error names the parameter as sent`() {
    for (name, value) in [("margin", "65"), ("buffer", "65"), ("overview", "yes"), ("describe", "2")] {
      let errors = errors([(name, value)])
      #expect(errors.map(\.place) == [.parameter(name)])
      #expect(errors.first?.detail.hasPrefix("\(name) is '\(value)'") == true)
    }
    // One name for the other is the same parameter twice.
    #expect(errors([("margin", "1"), ("buffer", "1")]).map(\.place) == [.parameter("buffer")])
    #expect(errors([("in", "a")]).map(\.place) == [.parameter("in")])
    for name in ["in", "book"] {
      #expect(listErrors([(name, "/")]).map(\.place) == [.parameter(name)])
      #expect(listErrors([("folder", "a"), (name, "b")]).map(\.place) == [.parameter(name)])
    }
    #expect(listErrors([("in", "a"), ("book", "a")]).map(\.place) == [.parameter("book")])
    #expect(listErrors([("margin", "1")]).map(\.place) == [.parameter("margin")])
  }

  @Test func `a list accepts present and deprecated parameter names`() throws {
    let book: ImageID = "codex"
    for name in ["in", "book"] {
      guard case .book(book) = try ListQuery([(name, "codex")]).selection.scope else {
        Issue.record("\(name) selects no book")
        continue
      }
    }
    #expect(
      try ListQuery([("fields", "in,moves,place,title")]).fields
        == .some(["book", "animated", "location", "title"]))
    #expect(try ListQuery([("fields", "book,isBook")]).fields == .some(["book", "isBook"]))
  }

  @Test func `an access log shows values by present and deprecated names`() {
    let query = Array("buffer=1&margin=1&include=overview&overview=1&describe=1&v=1f&g=1f&book=a&in=a".utf8)
    let text = query.withUnsafeBytes { LoggedQuery($0, showsMetadata: true).text }
    #expect(text == "buffer=1&margin=1&include=overview&overview=1&describe=1&v=1f&g=1f&*&*")
  }

  @Test func `descriptions have no deprecated name`() {
    for name in DeprecatedNames.parameters.keys { #expect(!ListQuery.parameters.contains(name)) }
    let unknown = errors([("nothing", "1")]).first?.detail ?? ""
    for name in ["margin", "overview", "describe"] {
      #expect(!unknown.contains(" \(name)"), "\(unknown)")
    }
  }
}
