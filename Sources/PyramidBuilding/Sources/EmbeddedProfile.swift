import Synchronization
import ZigguratImaging

/// The meaning of an embedded ICC profile for the pixels.
enum EmbeddedProfile {
  /// Answers to a question about profiles. A library's photographs share a few; a run need not remember more.
  private final class Answers: Sendable {
    private let known = Mutex<[[UInt8]: Bool]>([:])
    private let question: @Sendable ([UInt8]) -> Bool

    init(_ question: @escaping @Sendable ([UInt8]) -> Bool) { self.question = question }

    func callAsFunction(_ profile: [UInt8]) -> Bool {
      if let answer = known.withLock({ $0[profile] }) { return answer }
      let answer = question(profile)
      known.withLock { known in
        if known.count > 64 { known = [:] }
        known[profile] = answer
      }
      return answer
    }
  }

  private static let isUsable = Answers(ICCProfile.isUsable)
  private static let isNearSRGB = Answers(lattice)

  /// Returns the reason why an image's embedded profile is not used, as a clause. It is broken, or has another colour
  /// space than the image, against ICC.1:2010, 7.2.6. Nil if there is none, or it is used. Gray pixels with an RGB
  /// profile are equal parts of its red, green and blue.
  static func defect(of image: Image) -> String? {
    guard let bytes = image.embeddedProfile else { return nil }
    guard let profile = ICCProfile(bytes) else { return "embedded profile ignored: it is no ICC profile" }
    let spaces: [String]
    switch image.interpretation {
    case "b-w", "grey16": spaces = image.bands < 3 ? ["GRAY", "RGB "] : [profile.colourSpace]
    case "srgb", "rgb", "rgb16", "scrgb": spaces = ["RGB "]
    case "cmyk": spaces = ["CMYK"]
    case "lab", "labs", "labq": spaces = ["Lab "]
    default: return nil
    }
    let name = profile.description.map { "\"\($0)\"" } ?? "without a name"
    guard spaces.contains(profile.colourSpace) else {
      let space = profile.colourSpace.trimmingPrefix { $0 == " " }.split(separator: " ").joined()
      return
        "embedded profile \(name) ignored: it is for \(space), and the picture is \(image.interpretation)"
    }
    guard isUsable(bytes) else { return "embedded profile \(name) ignored: it is damaged" }
    return nil
  }

  /// Whether converting 8-bit RGB by the profile to sRGB changes nothing beyond rounding, as with the
  /// sRGB profiles that cameras and editors embed: such pixels are taken as they are.
  ///
  /// Found by converting a lattice of colours, since the profiles' names and bytes differ.
  static func isSRGB(_ profile: [UInt8]) -> Bool { isNearSRGB(profile) }

  /// Whether tiles can carry the image's profile: it is for RGB or gray, and the tiles are the same. CMYK and Lab are
  /// converted. So is gray if the tiles are RGB: their format has no gray, or gray is laid over a colour.
  static func canBeKept(_ image: Image, _ options: BuildOptions) -> Bool {
    guard let profile = image.embeddedProfile.flatMap(ICCProfile.init),
      ["srgb", "rgb", "rgb16", "b-w", "grey16"].contains(image.interpretation)
    else { return false }
    guard image.bands < 3 else { return profile.colourSpace == "RGB " }
    let becomesColour = image.hasAlpha && !options.keepsAlpha && Set(options.background).count > 1
    return profile.colourSpace == "GRAY" && options.coding.keepsGray && !becomesColour
  }

  private static func lattice(_ profile: [UInt8]) -> Bool {
    let steps = stride(from: 0, through: 255, by: 15).map { UInt8($0) }
    var pixels: [UInt8] = []
    for red in steps { for green in steps { for blue in steps { pixels += [red, green, blue] } } }
    let (width, height) = (steps.count * steps.count, steps.count)
    do {
      let converted = try Image(pixels: pixels, width: width, height: height, profile: profile)
        .convertedFromEmbeddedProfile(intent: "perceptual")
      guard converted.width == width, converted.bands == 3, converted.isBytes else { return false }
      var result = [UInt8](repeating: 0, count: pixels.count)
      let reader = PixelReader(converted)
      try result.withUnsafeMutableBufferPointer { (buffer) throws(ImagingError) in
        try reader.read(rows: height, from: 0, to: buffer.baseAddress!, stride: width * 3)
      }
      return zip(pixels, result).allSatisfy { abs(Int($0) - Int($1)) <= 1 }
    } catch {
      return false
    }
  }
}
