import Foundation
import Testing
import TileGeometry

/// Tests/Fixtures/scroll-cases.json, whose answers Tests/scripts/scroll-cases finds in exact fractions and by counting
/// pixels. The viewer's tests read it, too.
private struct ScrollCases: Decodable {
  let scrolls: [Scroll]
  let changes: [Change]

  struct Scroll: Decodable {
    let image: PixelSize
    let viewport: Viewport
    let insets: Insets
    let limits: ScaleLimits
    let anchor: Point?
    let rectangle: Rect
    let window: Window
    let fit: Fit
    let answer: Answer
  }

  struct Window: Decodable { let width, height: Double }

  struct Answer: Decodable {
    let permittedOffsets: PermittedOffsets
    let clamped, settled, rubberBanded, zooming, zoomed, resized: Place
    let fitting: Place?
  }

  struct Place: Decodable { let scale, x, y: Double }

  struct Change: Decodable {
    let pyramid: Pyramid
    let margin: Int
    let previous, viewport: Viewport
    let answer: Tiles
  }

  struct Tiles: Decodable { let added, kept, dropped: [TileAddress] }

  static func read() throws -> ScrollCases {
    let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .appendingPathComponent("Fixtures/scroll-cases.json")
    return try JSONDecoder().decode(ScrollCases.self, from: Data(contentsOf: path))
  }
}

struct ScrollCaseTests {
  /// Whether two numbers agree up to the rounding of values as large as `size`.
  private static func near(_ a: Double, _ b: Double, _ size: Double) -> Bool {
    (a - b).magnitude <= 1e-9 * max(size, a.magnitude, b.magnitude)
  }

  @Test(
    "offsets, settling, rubber band, zoom to a rectangle and resizing match exact fractions"
  )
  func scrolls() throws {
    let cases = try ScrollCases.read().scrolls
    #expect(cases.count >= 150)
    for (number, each) in cases.enumerated() {
      let (viewport, image, insets, limits, answer) = (
        each.viewport, each.image, each.insets, each.limits, each.answer
      )
      // Offsets are differences of lengths as large as these.
      let content = Double(max(image.width, image.height)) * max(viewport.scale, limits.maximum)
      let size = content + viewport.width + viewport.height + viewport.x.magnitude + viewport.y.magnitude
      func check(_ result: Viewport, _ place: ScrollCases.Place, _ what: String) {
        let agrees =
          Self.near(result.scale, place.scale, 0) && Self.near(result.x, place.x, size)
          && Self.near(result.y, place.y, size) && result.rotation == viewport.rotation
        #expect(agrees, "case \(number), \(what): \(result), not \(place)")
      }
      let permitted = viewport.permittedOffsets(on: image, insets: insets)
      for (range, wanted) in [
        (permitted.x, answer.permittedOffsets.x), (permitted.y, answer.permittedOffsets.y),
      ] {
        let agrees =
          Self.near(range.lowerBound, wanted.lowerBound, size)
          && Self.near(range.upperBound, wanted.upperBound, size)
        #expect(agrees, "case \(number), permitted: \(range), not \(wanted)")
      }
      check(viewport.clamped(to: image, insets: insets), answer.clamped, "clamped")
      let settled = viewport.settled(on: image, limits: limits, insets: insets, about: each.anchor)
      check(settled, answer.settled, "settled")
      let banded = viewport.rubberBanded(on: image, limits: limits, insets: insets, about: each.anchor)
      check(banded, answer.rubberBanded, "rubberBanded")
      let zooming = viewport.rubberBanded(
        on: image, limits: limits, insets: insets, about: each.anchor, isZooming: true)
      check(zooming, answer.zooming, "zooming")
      let zoomed = viewport.zoomed(to: each.rectangle, limits: limits, insets: insets)
      check(zoomed, answer.zoomed, "zoomed")
      let resized = viewport.resized(width: each.window.width, height: each.window.height, insets: insets)
      #expect((resized.width, resized.height) == (each.window.width, each.window.height))
      check(resized, answer.resized, "resized")
      if let place = answer.fitting {
        let fitting = Viewport(
          fitting: image, each.fit, width: viewport.width, height: viewport.height,
          rotation: viewport.rotation,
          insets: insets)
        check(fitting, place, "fitting")
      }
    }
  }

  @Test("tiles to add, keep and drop match a count of pixels")
  func changes() throws {
    let cases = try ScrollCases.read().changes
    #expect(cases.count >= 80)
    #expect(
      cases.count { !$0.answer.added.isEmpty && !$0.answer.kept.isEmpty && !$0.answer.dropped.isEmpty } >= 20)
    for (number, each) in cases.enumerated() {
      let previous = Coverage(pyramid: each.pyramid, viewport: each.previous)
      let coverage = Coverage(pyramid: each.pyramid, viewport: each.viewport)
      let changes = coverage.changes(from: previous, margin: each.margin)
      #expect(Set(changes.added.map(\.address)) == Set(each.answer.added), "case \(number), added")
      #expect(Set(changes.kept.map(\.address)) == Set(each.answer.kept), "case \(number), kept")
      #expect(changes.dropped == each.answer.dropped, "case \(number), dropped")
      let set = Set(each.answer.added + each.answer.kept)
      let tileSet = coverage.tileSet(margin: each.margin)
      #expect(Set(tileSet) == set && tileSet.count == set.count, "case \(number), tile set")
      #expect(set.allSatisfy(tileSet.contains) && !each.answer.dropped.contains(where: tileSet.contains))
    }
  }
}
