import Glibc
import Testing

@testable import ZigguratFiles

@Suite struct UmaskTests {
  @Test(
    arguments: [
      ("Name:\tziggurat\nUmask:\t0027\nState:\tR (running)\n", 0o027), ("Umask:\t0000\n", 0),
      ("Name:\tUmask\nState:\tR\n", nil), ("Umask:\tabc\n", nil), ("", nil),
    ] as [(String, mode_t?)])
  func `the umask is read from the kernel's status file`(text: String, mask: mode_t?) {
    #expect(Umask.mask(inStatus: text) == mask)
  }
}
