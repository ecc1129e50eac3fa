import Glibc
import Testing
import ZigguratFiles

@Suite struct StorageErrorTests {
  @Test func `a full disk is a temporary error`() {
    let full = StorageError("write x", errno: ENOSPC)
    #expect(full.isTemporary)
    #expect(full.description == "cannot write x: No space left on device")
    #expect(!StorageError("write x", errno: EACCES).isTemporary)
    #expect(!StorageError("write x", "no").isTemporary)
  }
}
