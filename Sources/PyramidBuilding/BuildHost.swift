import TileGeometry
import TileStorage

/// What a build is about to make, known once its source is open.
struct BuildPlan: Hashable {
  let pyramid: Pyramid
  let format: TileFormat
  /// Bytes that it reckons to take.
  let memory: Int
}

/// Who a picture is built for: allows its memory, and knows of the work on it while it lasts.
protocol BuildHost: AnyObject {
  /// Asked before anything is written; throws where the picture may not be built.
  func check(_ plan: BuildPlan, _ source: String) throws(BuildError)

  /// The work begins; may wait until there is memory for it.
  func begin(_ picture: any PictureInWork, memory: Int, _ source: String)

  /// The work is over. Also called where `begin` was not.
  func end(_ picture: any PictureInWork, memory: Int)
}
