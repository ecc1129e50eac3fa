import Foundation
import TileGeometry
import ZigguratHTTPMessages
import ZigguratTileProtocols

@testable import ZigguratTileServing

extension FuzzInput {
  /// Small and large, square tiles and tiles with an overlap, one that is a line.
  private static let pyramids = [
    (3001, 1703, 512, 0), (1 << 30, 1 << 30, 256, 0), (1, 1 << 30, 254, 1), (1, 1, 256, 0), (700, 500, 1, 0),
  ].map { width, height, tileSize, overlap in
    Pyramid(imageSize: PixelSize(width: width, height: height)!, tileSize: tileSize, overlap: overlap)!
  }

  /// Reads a path and its query, as sent and normalized, and checks that each tile lies inside the image.
  func readRequest() {
    let parts = bytes.split(separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    let (path, query) = (Array(parts[0]), parts.count > 1 ? Array(parts[1]) : [])
    bytes.withUnsafeBytes { target in
      place(Route(RawPath(target, count: path.count)), RawPath(target, count: path.count))
    }
    readForwarded(String(decoding: bytes, as: UTF8.self))
    query.withUnsafeBytes { _ = LoggedQuery($0, showsMetadata: true).text }
    path.withUnsafeBytes { _ = LoggedPath($0).text }
    bytes.withUnsafeBytes { _ = LoggedReferer($0).text }
    guard let plain = try? NormalizedPath(path, query: query) else { return }
    plain.withRawPath { place(plain.route, $0) }
    let parameters = query.split(separator: UInt8(ascii: "&")).map { String(decoding: $0, as: UTF8.self) }.map
    { part in
      let end = part.firstIndex(of: "=") ?? part.endIndex
      return (name: String(part[..<end]), value: String(part[end...].dropFirst()))
    }
    guard let viewport = try? ViewportQuery(parameters) else { return }
    for pyramid in Self.pyramids { _ = viewport.viewport(on: pyramid.imageSize) }
  }

  /// Reads a proxy's header and checks that its address fits into a URL.
  private func readForwarded(_ text: String) {
    for name in ["Forwarded", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Forwarded-Prefix"] {
      guard let base = ForwardedBase({ $0 == name ? text : $0 == "Host" ? "host" : nil }, .local) else {
        continue
      }
      precondition(
        ["http", "https"].contains(base.scheme) && ServerAddress.isHost(base.host.utf8),
        "an address has a host")
      precondition(base.prefix.utf8.allSatisfy { $0 > 0x20 && $0 != 0x22 && $0 < 0x7f }, "a prefix is plain")
    }
  }

  private func place(_ route: Route, _ path: RawPath) {
    guard case .tiles(let request) = route else { return }
    _ = (request.endingLength(path), request.format, request.subject, path.bytes(request.id).count)
    if let whole = request.wholeID { _ = path.bytes(whole) }
    guard request.subject == .tile else { return }
    let limits = PictureLimits()
    for pyramid in Self.pyramids {
      let place = request.place(in: pyramid, limits)
      _ = request.link(path, to: place, in: pyramid, limits)?.text(base: "")
      switch place {
      case .stored, .notFound: break
      case .crop(let rectangle, let level, _):
        precondition(rectangle.isInside(pyramid.size(ofLevel: level)), "a crop is inside its level")
      case .picture(let picture):
        precondition(picture.region.isInside(pyramid.imageSize), "a region is inside the image")
        precondition(limits.allow(picture.size), "a picture is no larger than is allowed")
      }
    }
  }
}

extension PixelRect {
  fileprivate func isInside(_ size: PixelSize) -> Bool {
    x >= 0 && y >= 0 && width > 0 && height > 0 && x + width <= size.width && y + height <= size.height
  }
}
