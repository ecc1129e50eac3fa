import Foundation
import Glibc
import Testing
import TileStorage
import ZigguratFiles
import ZigguratTestSupport

@testable import ZigguratImageLibrary

@Suite struct LibraryTableTests {
  private func entry(_ id: ImageID) -> LibraryEntry {
    LibraryEntry(id: id, path: "/\(id).szi", identity: FileIdentity(stat()))
  }

  /// Images that come and go one by one, in small and in large numbers leave what a plain dictionary holds.
  @Test(arguments: [1, 3, 100]) func `a table has the entries of a dictionary with the same changes`(
    _ atOnce: Int
  ) throws {
    let folder = try TemporaryFolder()
    var table = try LibraryTable(root: folder.path, previous: nil)
    var expected: [ImageID: LibraryEntry] = [:]
    var random = SplitMix(UInt64(atOnce))
    // Few enough that most are met again, and stand in each other's places.
    let ids = (0..<300).map { "\($0 % 7)/image \($0)" as ImageID }
    for round in 0..<(atOnce == 100 ? 100 : 2000) {
      var changes: [ImageID: LibraryEntry?] = [:]
      for _ in 0..<atOnce {
        let id = random.pick(ids)
        changes[id] = .some(random.below(5) < (round / 500 % 2 == 0 ? 3 : 2) ? entry(id) : nil)
      }
      table.replace(changes)
      for (id, change) in changes { expected[id] = change }
      #expect(table.ids.count == expected.count)
      for id in ids { #expect(table.entry(id) === expected[id]) }
    }
    #expect(table.ids == expected.keys.sorted())
    #expect(table.entries.map(\.id) == table.ids)
  }

  @Test func `entries can be removed one by one until the table is empty`() throws {
    let folder = try TemporaryFolder()
    var table = try LibraryTable(root: folder.path, previous: nil)
    for number in 0..<500 { table.replace(["\(number)": entry("\(number)")]) }
    for number in 0..<500 {
      table.replace(["\(number)": nil])
      #expect(table.entry("\(number)") == nil && table.ids.count == 499 - number)
      if number < 499 { #expect(table.entry("499") != nil) }
    }
  }
}
