import ZigguratImaging

/// Pages of a TIFF file whose sizes are those of a pyramid, and whose tags do not say whether they are its levels.
enum ReducedPages {
  /// Sandboxed processes of the grid in which two pages are compared, at most, on each side.
  private static let maxCells = 64
  /// Pixels on each side below which a page says little about the one before it.
  private static let leastSide = 32

  /// Whether each page shows the one before it in half the size. Pages that cannot be read are no copies.
  static func areCopies(_ pages: [Int], path: String) -> Bool {
    // Small pages are read sooner.
    let pairs = zip(pages, pages.dropFirst()).enumerated().reversed()
    for (place, (larger, smaller)) in pairs {
      guard let small = try? open(smaller, path), let large = try? open(larger, path) else { return false }
      if place > 0, min(small.width, small.height) < leastSide { continue }
      guard let isCopy = try? isCopy(small, of: large), isCopy else { return false }
    }
    return true
  }

  private static func open(_ page: Int, _ path: String) throws(ImagingError) -> Image {
    try Image.source(path: path, access: .sequential, page: page, keepsBands: true)
  }

  /// Compares the mean values of areas: a copy differs by far less than either picture varies.
  private static func isCopy(_ small: Image, of large: Image) throws(ImagingError) -> Bool {
    guard small.bands == large.bands else { return false }
    let columns = min(maxCells, max(1, small.width / 4))
    let rows = min(maxCells, max(1, small.height / 4))
    let first = try large.means(columns: columns, rows: rows)
    let second = try small.means(columns: columns, rows: rows)
    let count = Double(first.count)
    let means = (first.reduce(0, +) / count, second.reduce(0, +) / count)
    var (difference, variation) = (0.0, 0.0)
    for (one, other) in zip(first, second) {
      difference += (one - other) * (one - other)
      variation += (one - means.0) * (one - means.0) + (other - means.1) * (other - means.1)
    }
    // Every level is rounded.
    let rounding = large.sampleType.range == nil ? 0 : count
    return difference <= variation / 10 + rounding
  }
}
