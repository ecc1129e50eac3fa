import Glibc
import Testing
import ZigguratFiles

@testable import PyramidBuilding

@Suite struct BuildErrorTests {
  @Test func `an id is taken by the error's number, not by its words`() {
    let taken = BuildError("a.jpg", StorageError("write b.szi", PartialFile.taken, code: EEXIST))
    #expect(taken.isOfTakenID)
    #expect(BuildError("a.jpg", StorageError("write b.szi", errno: EEXIST)).isOfTakenID)
    #expect(!BuildError("a.jpg", "says that \(PartialFile.taken)").isOfTakenID)
    #expect(!BuildError("a.jpg", StorageError("write b.szi", errno: ENOSPC)).isOfTakenID)
  }

  @Test func `words in front of a reason change nothing else of the error`() {
    var error = BuildError("a.pdf", StorageError("write b.szi", errno: EEXIST))
    error.knownSince = 5
    let page = error.about("other.pdf", "page 2: ")
    #expect(page.description == "other.pdf: page 2: cannot write b.szi: File exists")
    #expect(page.isOfTakenID && page.knownSince == 5 && page.mayBeOfMachine == error.mayBeOfMachine)
  }
}
