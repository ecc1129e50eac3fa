import TileGeometry

/// The URLs of an image's tiles, pinned to the archive's generation so that they may be kept for ever.
struct TileURLs {
  private let head: String
  private let tail: String

  init(id: String, fileExtension: String, generation: UInt64, base: String) {
    head = "\(base)/dzi/\(PercentEncoding.encode(id))_files/"
    tail = ".\(fileExtension)?g=\(String(generation, radix: 16))"
  }

  func url(of address: TileAddress) -> String {
    "\(head)\(address.level)/\(address.column)_\(address.row)\(tail)"
  }
}
