import TileGeometry
import TileStorage

/// The plan of a build, known once its source is open.
struct BuildPlan: Hashable {
  let pyramid: Pyramid
  let format: TileFormat
  /// Bytes that it reckons to take.
  let memory: Int
}

/// The owner of a build: it grants memory, and follows the work while it lasts.
protocol BuildHost: AnyObject {
  /// Asked before anything is written; throws where the picture may not be built.
  func check(_ plan: BuildPlan, _ source: String) throws(BuildError)

  /// The work begins; may wait until there is memory for it.
  func begin(_ picture: any PictureInWork, memory: Int, _ source: String)

  /// The work is over. Also called where `begin` was not.
  func end(_ picture: any PictureInWork, memory: Int)
}
