package import ZigguratFiles

/// One of the parts into which the work of a plan is split: the same part has the same images on every machine.
package struct WorkShard: Hashable, Sendable, CustomStringConvertible {
  /// From 0.
  package let index: Int
  package let count: Int

  package static let whole = WorkShard(index: 0, count: 1)
  package static let maximum = 1_000_000

  private init(index: Int, count: Int) {
    self.index = index
    self.count = count
  }

  /// - Parameter text: `I/N`, I from 0 to N − 1.
  package init?(_ text: String) {
    let numbers = text.split(separator: "/", omittingEmptySubsequences: false)
    guard numbers.count == 2, numbers.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
      let index = Int(numbers[0]), let count = Int(numbers[1]), (1...Self.maximum).contains(count),
      index < count
    else { return nil }
    self.init(index: index, count: count)
  }

  package var description: String { "\(index)/\(count)" }

  /// Whether the part has the work that is done as one: an image with its pages, or a book.
  package func has(_ work: ImageID) -> Bool {
    guard count > 1 else { return true }
    let digest = Array(work.text.utf8).withUnsafeBytes { Digest.of($0) }
    return digest % UInt64(count) == UInt64(index)
  }
}

extension SourceScan.Source {
  /// The id of the unit of work: a book that is a folder, or the source.
  package var work: ImageID { book ?? id }
}
