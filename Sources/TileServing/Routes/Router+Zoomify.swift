import HTTPMessages
import TileGeometry
import TileStorage

/// Zoomify.
extension Router {
  /// - Parameter segments: what follows `/zoomify/`.
  func zoomify(_ segments: [String]) -> Answer {
    if segments.last == "ImageProperties.xml", segments.count > 1 {
      return found(segments.dropLast().joined(separator: "/"), problem: false) { archive in
        .now(.json(Array(ZoomifyGrid(archive.pyramid).xml.utf8), "application/xml"))
      }
    }
    // Only a tile that is not stored as it is asked for comes here.
    guard segments.count > 2, segments[segments.count - 2].hasPrefix("TileGroup") else {
      return .text(404, "there is no Zoomify file at this path")
    }
    return found(segments.dropLast(2).joined(separator: "/"), problem: false) { archive in
      let name = segments.last!.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
      let place = name[0].split(separator: "-", omittingEmptySubsequences: false).map {
        Self.number(String($0))
      }
      guard name.count == 2, place.count == 3, let level = place[0], let x = place[1], let y = place[2] else {
        return .text(404, "a tile is named TileGroup/LEVEL-X-Y.jpg")
      }
      let grid = ZoomifyGrid(archive.pyramid)
      guard let group = grid.group(level: level, x: x, y: y) else {
        return .text(404, "the pyramid has no such tile")
      }
      guard segments[segments.count - 2] == "TileGroup\(group)" else {
        return .text(404, "this tile is in TileGroup\(group)")
      }
      return cutTile(
        grid.rectangle(level: level, x: x, y: y), level: grid.pyramidLevel(level), of: archive,
        ending: String(name[1]))
    }
  }
}
