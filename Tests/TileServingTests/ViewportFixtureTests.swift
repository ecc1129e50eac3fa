import Foundation
import Testing

/// Tests/Fixtures/viewport-cases.json, which the viewer's tests read too. It is rewritten by
/// `ZIGGURAT_WRITE_FIXTURES=1 swift test --filter ViewportFixture`.
@Suite(.serialized)
struct ViewportFixtureTests {
  private static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().appendingPathComponent("Fixtures/viewport-cases.json").path

  @Test("the fixture's results equal those of this geometry, bit for bit")
  func fixtureAgrees() throws {
    if ProcessInfo.processInfo.environment["ZIGGURAT_WRITE_FIXTURES"] == "1" { try Self.write() }
    let cases = try Self.read()
    for (number, expected) in cases.enumerated() {
      let actual = try ViewportCase(expected.image, expected.query)
      #expect(actual == expected, "case \(number), counted from 0")
    }
  }

  @Test("the fixture covers every parameter, every size and empty viewports")
  func fixtureIsWide() throws {
    let cases = try Self.read()
    #expect(cases.count >= 280)
    func count(_ holds: (ViewportCase) -> Bool) -> Int { cases.count(where: holds) }
    let least = 5
    #expect(count { $0.query.scale != nil && $0.query.fit == nil } >= least)
    #expect(count { $0.query.x != nil } >= least)
    #expect(count { $0.query.y != nil } >= least)
    for fit in ["contain", "cover", "width", "none"] { #expect(count { $0.query.fit == fit } >= least) }
    #expect(count { $0.query.center != nil } >= least)
    #expect(count { $0.query.anchor != nil && ($0.query.zoom ?? 1) != 1 } >= least)
    #expect(count { $0.query.minScale != nil } >= least)
    #expect(count { $0.query.maxScale != nil } >= least)
    #expect(count { $0.query.clamp == true } >= least)
    #expect(count { $0.query.rotation.map { $0.remainder(dividingBy: 90) != 0 } ?? false } >= least)
    #expect(count { $0.query.rotation.map { $0.remainder(dividingBy: 90) == 0 } ?? false } >= least)
    #expect(count { $0.query.flip == true } >= least)
    #expect(count { $0.query.dpr != nil } >= least)
    #expect(count { $0.query.buffer != nil && $0.answer.tiles.contains { $0.prefetch } } >= least)
    #expect(count { $0.query.fallback == true && $0.answer.tiles.count > 1 } >= least)
    #expect(count { $0.answer.viewport.visible == nil && $0.answer.tiles.isEmpty } >= least)
    #expect(count { $0.image.width == 1 && $0.image.height == 1 } >= least)
    #expect(count { $0.image.width == 1 << 31 } >= least)
  }

  private static func read() throws -> [ViewportCase] {
    try JSONDecoder().decode([ViewportCase].self, from: Data(contentsOf: URL(fileURLWithPath: path)))
  }

  /// One case a line, so that a change shows as the cases it changes.
  private static func write() throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys]
    let lines = try ViewportCase.questions.map { question in
      String(decoding: try encoder.encode(ViewportCase(question.image, question.query)), as: UTF8.self)
    }
    let text = "[\n" + lines.joined(separator: ",\n") + "\n]\n"
    try text.write(toFile: path, atomically: true, encoding: .utf8)
  }
}
