import Testing
import ZigguratHTTPMessages
import ZigguratRepositorySupport

@testable import ZigguratTileServing

@Suite struct VersionHandlerTests {
  private func ask(_ method: String) throws -> Response? {
    let site = try TileServer(library: InMemoryRepository(), publicFolder: nil, version: "1.2.3")
    let request = Request(method: method, rawPath: Array("/api/version".utf8))
    guard case .response(let response) = site.respond(to: RoutedRequest(request)) else { return nil }
    return response
  }

  @Test func `the version is JSON that every site may read`() throws {
    let response = try #require(try ask("GET"))
    guard case .bytes(let bytes) = response.body else {
      Issue.record("the answer has no bytes")
      return
    }
    #expect(response.status == 200)
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"name":"ziggurat","version":"1.2.3"}"#)
    #expect(response["Content-Type"] == "application/json")
    #expect(response["Access-Control-Allow-Origin"] == "*")
  }

  @Test func `the version cannot be changed`() throws {
    let response = try #require(try ask("POST"))
    #expect(response.status == 405 && response["Allow"]?.contains("GET") == true)
  }
}
