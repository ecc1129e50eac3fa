import Glibc
import Testing
import ZigguratFiles

@testable import PyramidBuilding

@Suite struct BuildErrorTests {
  @Test func `a taken id is recognized by the error's number, not by its text`() {
    let taken = BuildError("a.jpg", StorageError("write b.szi", AtomicFile.taken, code: EEXIST))
    #expect(taken.isOfTakenID)
    #expect(BuildError("a.jpg", StorageError("write b.szi", errno: EEXIST)).isOfTakenID)
    #expect(!BuildError("a.jpg", "says that \(AtomicFile.taken)").isOfTakenID)
    #expect(!BuildError("a.jpg", StorageError("write b.szi", errno: ENOSPC)).isOfTakenID)
  }

  @Test func `another reason leaves the rest of the error unchanged`() {
    var error = BuildError("a.pdf", StorageError("write b.szi", errno: EEXIST))
    error.knownSince = 5
    let page = error.about("other.pdf", "page 2: \(error.reason)")
    #expect(page.description == "other.pdf: page 2: cannot write b.szi: File exists")
    #expect(page.isOfTakenID && page.knownSince == 5 && page.mayBeOfMachine == error.mayBeOfMachine)
  }

  @Test func `an error about a copy of a source names the source`() throws {
    var error = BuildError("/proc/self/fd/7", "cannot decode /proc/self/fd/7")
    error.mayBeOfMachine = true
    let source = SourceScan.Source(path: "s3://bucket/a.pdf", id: "a")
    let outcome = LibraryBuilder.Outcome.failed(error).attributed(of: source, copiedTo: "/proc/self/fd/7")
    #expect(outcome.failure?.description == "s3://bucket/a.pdf: cannot decode s3://bucket/a.pdf")
    #expect(outcome.failure?.mayBeOfMachine == true)
  }
}
