import Synchronization

/// The maximum pixels, pages and bytes of one upload, all its pages together: the protection against decompression
/// bombs. The parent checks every plan and file of a sandboxed build against it, because the process may have been
/// compromised after it described the source.
package final class BuildAllowance: Sendable {
  private struct Left {
    var pixels, pages, bytes: Int
  }

  /// Pages of one source.
  package static let maxPages = 100_000

  private let left: Mutex<Left>

  /// - Parameter pixels: of all pages.
  package init(pixels: Int) {
    // No archive has six bytes a pixel; small pictures have entries besides their tiles.
    left = Mutex(Left(pixels: pixels, pages: Self.maxPages, bytes: 6 * pixels + (1 << 30)))
  }

  /// Whether a source may have so many pages.
  func admits(pages: Int) -> Bool { pages <= left.withLock { $0.pages } }

  /// Takes the pixels of a plan; false if there are too few left.
  func take(_ plan: BuildPlan) -> Bool {
    // A plan's pixels were counted when it was checked.
    let pixels = plan.pyramid.imageSize.width * plan.pyramid.imageSize.height
    return left.withLock { left in
      guard pixels <= left.pixels, left.pages > 0 else { return false }
      left.pixels -= pixels
      left.pages -= 1
      return true
    }
  }

  /// Returns the pixels of a plan that was not built to the allowance.
  func giveBack(_ plan: BuildPlan) {
    let pixels = plan.pyramid.imageSize.width * plan.pyramid.imageSize.height
    left.withLock { left in
      left.pixels += pixels
      left.pages += 1
    }
  }

  /// Bytes that the next archive may have.
  var bytes: Int { left.withLock { $0.bytes } }

  /// Counts a finished archive.
  func spend(bytes: Int) { left.withLock { $0.bytes -= bytes } }
}
