import TileStorage
import ZigguratFiles
import ZigguratImaging

/// The animation that an archive keeps of its source.
enum SourceAnimation {
  /// Larger files are left out: pages fetch the whole before they play, and the builder holds it in memory.
  private static let maxSize = InputLimit.animation.bytes

  /// Returns the animation and its file; nil for a picture that is not animated.
  static func read(_ file: SourceFile, _ steps: inout [String]) throws(BuildError) -> (Animation, [UInt8])? {
    guard let loader = Image.loader(ofPath: file.path), ["gifload", "webpload"].contains(loader),
      let image = try? Image(path: file.path, access: .sequential), let frames = image.int("n-pages"),
      frames > 1
    else { return nil }
    guard file.identity.size <= maxSize else {
      steps.append("not played, being larger than \(maxSize >> 20) MB")
      return nil
    }
    return (Animation(frames: frames, format: loader == "gifload" ? .gif : .webp), try file.contents())
  }
}
