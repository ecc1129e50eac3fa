import Testing
import ZigguratFiles
import ZigguratTestSupport

@testable import ziggurat

/// The choice of images to purge from caches.
@Suite struct CachePurgerTests {
  @Test(
    "removed images are those that were there before and are not there now",
    arguments: [
      ("", "", ""), ("a b c", "a b c", ""), ("a b c", "b", "a c"), ("a b c", "", "a b c"), ("b", "a b c", ""),
      ("a c e", "b d e f", "a c"), ("b", "a", "b"), ("a", "b", "a"),
    ])
  func gone(_ before: String, _ after: String, _ gone: String) {
    let ids = [before, after, gone].map { $0.split(separator: " ").map { ImageID(String($0))! } }
    #expect(CachePurger.gone(from: ids[0], in: ids[1]) == ids[2])
  }
}
