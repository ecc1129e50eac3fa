import Testing
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratImageLibrary

@Suite struct FolderRepositoryTests {
  @Test(
    "removed ids are those of one sorted list that another does not have",
    arguments: [
      ("", "", ""), ("a b c", "a b c", ""), ("a b c", "b", "a c"), ("a b c", "", "a b c"), ("b", "a b c", ""),
      ("a c e", "b d e f", "a c"), ("b", "a", "b"), ("a", "b", "a"),
    ])
  func removed(_ before: String, _ after: String, _ removed: String) {
    let ids = [before, after, removed].map { $0.split(separator: " ").map { ImageID(String($0))! } }
    #expect(FolderRepository.removed(from: ids[0], in: ids[1]) == ids[2])
  }
}
