import Foundation
import Testing
import ZigguratFiles
import ZigguratTestSupport

@Suite struct NameTakenTests {
  private let folder = try! TemporaryFolder()

  @Test("a dangling link takes a name")
  func takenName() throws {
    try FileManager.default.createSymbolicLink(atPath: folder("a.szi"), withDestinationPath: "none/of/them")
    #expect(isNameTaken(folder("a.szi")) && !isNameTaken(folder("b.szi")) && !isNameTaken(folder("b/c.szi")))
  }
}
