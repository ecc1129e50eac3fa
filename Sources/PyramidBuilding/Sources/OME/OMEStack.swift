import Imaging
import TileStorage

/// The channels of an OME-TIFF that are shown as one picture, of one depth and moment.
struct OMEStack {
  struct Channel {
    let name: String
    /// Red, green and blue, each 0…255.
    let colour: [Int]
    /// Counted from 0.
    let page: Int
  }

  /// Those that are shown.
  let channels: [Channel]
  let dimensions: ImageDimensions
  /// What was decided on, a clause each.
  let steps: [String]

  /// ImageJ's colours of composites, where the file names none.
  private static let usual = [
    [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 255, 255], [255, 0, 255], [255, 255, 0],
  ]

  /// - Parameters:
  ///   - first: the file's first page.
  ///   - contents: which of the file's images is meant.
  ///   - wanted: channels by their numbers, counted from 1, or names; nil for all, of many the first seven.
  /// - Returns: nil for a file that is no such stack: of one plane, or with pages that no OME-XML tells of.
  /// - Throws: where a channel is wanted that there is not.
  static func read(
    _ first: Image, path: String, wanted: [String]?, _ contents: SourceContents?
  ) throws(ImagingError) -> OMEStack? {
    guard Image.loader(ofPath: path) == "tiffload", let count = first.int("n-pages"), count > 1,
      let text = first.string("image-description"),
      let pixels = OMEPixels(text, image: contents?.image ?? 0, at: contents?.first ?? 0),
      pixels.planeCount > 1 || contents?.leftOut.contains(where: \.role.isPrivate) == true
    else { return nil }
    return try OMEStack(pixels, pages: count, path, wanted)
  }

  private init?(_ pixels: OMEPixels, pages count: Int, _ path: String, _ wanted: [String]?)
    throws(ImagingError)
  {
    let (z, t) = (pixels.sizeZ / 2, 0)
    var pages: [Int] = []
    for channel in pixels.channels.indices {
      guard let page = pixels.page(channel: channel, z: z, t: t), page < count else { return nil }
      pages.append(page)
    }
    let names = pixels.channels.enumerated().map { $1.name ?? "channel \($0 + 1)" }
    let isRGB = pixels.samples > 1
    let chosen = isRGB ? [0] : try Self.chosen(wanted, names, path)
    var colours = pixels.channels.enumerated().map { $1.colour ?? Self.usual[$0 % Self.usual.count] }
    if isRGB || (pixels.channels.count == 1 && pixels.channels[0].colour == nil) {
      colours = colours.map { _ in [255, 255, 255] }
    }
    // White for each is what programs write that know no colours; all of them would be one gray.
    if chosen.count > 1, chosen.allSatisfy({ colours[$0] == [255, 255, 255] }) {
      for (place, channel) in chosen.enumerated() { colours[channel] = Self.usual[place % Self.usual.count] }
    }
    channels = chosen.map { Channel(name: names[$0], colour: colours[$0], page: pages[$0]) }
    dimensions = ImageDimensions(
      channels: names.indices.map {
        .init(name: names[$0], colour: Self.hexadecimal(colours[$0]), isShown: chosen.contains($0))
      }, sizeZ: pixels.sizeZ, sizeT: pixels.sizeT, z: z, t: t)
    var steps: [String] = []
    if names.count > 1 {
      let words = channels.map { "\($0.name) in \(Self.hexadecimal($0.colour))" }.joined(separator: ", ")
      steps.append("\(chosen.count) of \(names.count) channels: \(words)")
    }
    if pixels.sizeZ > 1 { steps.append("plane \(z + 1) of \(pixels.sizeZ) in depth") }
    if pixels.sizeT > 1 { steps.append(BuildRecord.first(of: "\(pixels.sizeT) moments")) }
    if pixels.images > 1 {
      steps.append(
        pixels.image == 0
          ? BuildRecord.first(of: "\(pixels.images) images") : "image \(pixels.image + 1) of \(pixels.images)"
      )
    }
    self.steps = steps
  }

  /// Whether its one page is the picture as it is: gray, or red, green and blue.
  var isPage: Bool { channels.count == 1 && channels[0].colour == [255, 255, 255] }

  private static func chosen(
    _ wanted: [String]?, _ names: [String], _ path: String
  ) throws(ImagingError) -> [Int] {
    guard let wanted else { return Array(names.indices.prefix(usual.count)) }
    var chosen: [Int] = []
    for each in wanted {
      let index =
        names.firstIndex { $0.lowercased() == each.lowercased() }
        ?? Int(each).map { $0 - 1 }.flatMap { names.indices.contains($0) ? $0 : nil }
      guard let index else {
        let words = names.joined(separator: ", ")
        throw ImagingError("open", path, message: "has no channel '\(each)'; its channels are \(words)")
      }
      if !chosen.contains(index) { chosen.append(index) }
    }
    return chosen
  }

  private static func hexadecimal(_ colour: [Int]) -> String {
    "#" + colour.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension VipsSource {
  /// The channels of a stack in their colours, each within its own window, one over the other.
  static func composite(
    _ stack: OMEStack, _ path: String, _ options: BuildOptions
  ) throws(ImagingError) -> (Image, [String]) {
    var (steps, options): ([String], BuildOptions) = ([], options)
    let windows: [SampleWindow?]
    if case .channels(let each) = options.window {
      windows = each
    } else {
      windows = stack.channels.map { _ in options.window }
    }
    let count = stack.channels.count
    guard windows.count == count else {
      let words = "--window has windows for \(windows.count) channels"
      throw ImagingError("open", path, message: "\(words), and \(count) \(count == 1 ? "is" : "are") shown")
    }
    var sum: Image?
    for (channel, window) in zip(stack.channels, windows) {
      options.window = window
      var own: [String] = []
      let open = { () throws(ImagingError) in
        try Image.source(path: path, access: .sequential, page: channel.page, scale: nil)
      }
      let page = try open()
      guard page.bands == 1 else {
        throw ImagingError(
          "open", path, message: "'\(channel.name)' has \(page.bands) bands, and no one colour")
      }
      let image = try eightBits(page, options, &own, open)
      steps += own.map { "\(channel.name): \($0)" }
      let coloured = try image.coloured(channel.colour.map { Double($0) / 255 })
      if let below = sum, below.width != coloured.width || below.height != coloured.height {
        throw ImagingError(
          "open", path, message: "'\(channel.name)' is of another size than the channel before")
      }
      sum = try sum.map { (below) throws(ImagingError) in try below.added(coloured) } ?? coloured
    }
    guard let sum else { throw ImagingError("open", path, message: "has no channel") }
    return (try sum.roundedToRGB(), steps)
  }
}
