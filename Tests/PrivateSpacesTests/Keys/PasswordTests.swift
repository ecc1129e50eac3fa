import Foundation
import Testing
import TileStorage
import ZigguratTestSupport

@testable import ZigguratPrivateSpaces

/// Spaces by their passwords, each with the full cost of Argon2id.
@Suite(.serialized) struct PasswordTests {
  private func password(_ text: String) throws -> Password { try Password(text) }

  @Test func `a password opens its own space and no other`() throws {
    let library = try TemporaryFolder()
    let spaces = PrivateSpaces(library: library.path)
    try spaces.create(password("first of two"))
    try spaces.create(password("second of two"))
    let writer = try spaces.open(password("first of two")).makeWriter(
      id: "secret", pyramid: SmallSpace.pyramid, format: .jpeg)
    for index in 0..<SmallSpace.pyramid.tileCount {
      try [UInt8(index)].withUnsafeBytes { try writer.append(tile: index, $0, crc: 0) }
    }
    _ = try writer.finish()
    #expect(try spaces.open(password("first of two")).ids() == ["secret"])
    #expect(try spaces.open(password("second of two")).ids() == [])

    // A wrong password, a library without spaces and a missing library give the same message.
    let refused = SpaceError.noSpaceOpens.description
    #expect(refusal { _ = try spaces.open(password("third")) } == refused)
    #expect(refusal { _ = try PrivateSpaces(library: library("no")).open(password("third")) } == refused)
    #expect(
      refusal { try PrivateSpaces(library: library("no")).changePassword(password("a"), to: password("b")) }
        == refused)
    #expect(refusal { try spaces.changePassword(password("third"), to: password("b")) } == refused)
    #expect(!FileManager.default.fileExists(atPath: library("no")))

    let taken = SpaceError.passwordTaken.description
    #expect(refusal { try spaces.create(password("first of two")) } == taken)
    #expect(
      refusal { try spaces.changePassword(password("second of two"), to: password("first of two")) } == taken)

    try spaces.changePassword(password("first of two"), to: password("a new one"))
    #expect(refusal { _ = try spaces.open(password("first of two")) } == refused)
    #expect(try spaces.open(password("a new one")).ids() == ["secret"])
    #expect(try spaces.open(password("second of two")).ids() == [])
  }

  @Test func `a wrong password takes as much work as without any space`() throws {
    let library = try TemporaryFolder()
    let spaces = PrivateSpaces(library: library.path)
    for number in 0..<3 { try spaces.create(password("space \(number)")) }
    /// User and system time, which a busy machine stretches less than the clock's.
    func seconds(_ spaces: PrivateSpaces) throws -> Double {
      var before = timespec()
      var after = timespec()
      let wrong = try password("wrong")
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &before)
      _ = try? spaces.open(wrong)
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &after)
      return Double(after.tv_sec - before.tv_sec) + Double(after.tv_nsec - before.tv_nsec) / 1e9
    }
    var ratios: [Double] = []
    for _ in 0..<7 {
      ratios.append(try seconds(spaces) / seconds(PrivateSpaces(library: library("none"))))
    }
    // Without the derivation or the slots it would be 0.01 or 0.9 and less.
    let median = ratios.sorted()[3]
    #expect((0.8...1.25).contains(median), "\(ratios)")
  }

  @Test func `a damaged keyring opens the intact spaces and is not overwritten`() throws {
    let library = try TemporaryFolder()
    let spaces = PrivateSpaces(library: library.path)
    try spaces.create(password("the one"))
    #expect(spaces.keyringDefect() == nil)
    let path = library(".spaces/keyring")
    var bytes = try bytes(ofFile: path)
    bytes[5000] ^= 1
    try library.write(".spaces/keyring", bytes)
    let advice = "put a copy of the file back in its place"
    #expect(spaces.keyringDefect() == "it is damaged; \(advice)")
    #expect(try spaces.open(password("the one")).ids() == [])
    let said = "cannot read the keyring: it is damaged; \(advice)"
    #expect(refusal { try spaces.create(password("another")) } == said)
    #expect(refusal { try spaces.changePassword(password("the one"), to: password("another")) } == said)
    #expect(
      refusal { _ = try spaces.open(password("another")) }
        == "cannot read the keyring: no space opens, but it is damaged; \(advice)")
    #expect(try ZigguratTestSupport.bytes(ofFile: path) == bytes)
  }

  @Test func `composed and decomposed letters are one password`() throws {
    let (composed, decomposed) = (try password("Stra\u{df}e \u{e9}"), try password("Stra\u{df}e e\u{301}"))
    #expect(composed == decomposed)
    #expect(!(composed == (try password("Strasse e"))))
  }

  @Test(arguments: [
    ("", "it is empty"), ("\n", "it is empty"),
    (String(repeating: "x", count: 1025), "it is longer than 1024 bytes"),
    ("two\nlines", "it has control characters or more than one line"),
    ("tab\t", "it has control characters or more than one line"),
  ])
  func `unusable passwords are rejected`(_ text: String, _ reason: String) {
    #expect(refusal { _ = try Password(text) } == "the password cannot be used: \(reason)")
  }

  @Test func `the longest password is accepted, and one line break is ignored`() throws {
    let longest = String(repeating: "x", count: 1024)
    #expect(try password(longest) == password(longest))
    #expect(try password("one\r\n") == password("one"))
    #expect(
      refusal {
        _ = try Password { (room) throws(SpaceError) in
          room.copyBytes(from: [0xff, 0xfe, 0x0a])
          return 3
        }
      } == "the password cannot be used: it is not UTF-8")
  }
}
