import TileStorage
import ZigguratFiles
import ZigguratImaging

/// What is kept of a source that moves.
enum SourceAnimation {
  /// Larger files are left out: pages fetch the whole before they play, and the builder holds it in memory.
  private static let largest = InputLimit.animation.bytes

  /// Nil for pictures that stand still.
  static func read(_ file: SourceFile, _ steps: inout [String]) throws(BuildError) -> (Animation, [UInt8])? {
    guard let loader = Image.loader(ofPath: file.path), ["gifload", "webpload"].contains(loader),
      let image = try? Image(path: file.path, access: .sequential), let frames = image.int("n-pages"),
      frames > 1
    else { return nil }
    guard file.identity.size <= largest else {
      steps.append("not played, being larger than \(largest >> 20) MB")
      return nil
    }
    return (Animation(frames: frames, format: loader == "gifload" ? .gif : .webp), try file.contents())
  }
}
