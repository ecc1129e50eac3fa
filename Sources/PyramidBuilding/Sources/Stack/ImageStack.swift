import TileStorage
import ZigguratImaging

/// The channels of an OME-TIFF or an ImageJ hyperstack that are shown as one picture, of one depth and time point.
struct ImageStack {
  struct Channel {
    let name: String
    /// Red, green and blue, each 0…255.
    let colour: [Int]
    /// Whether its least value has that colour, and its greatest is black.
    let isInverted: Bool
    /// Counted from 0.
    let page: Int
  }

  /// The kind of file, as a noun phrase.
  let kind: String
  /// The ones that are shown.
  let channels: [Channel]
  let dimensions: ImageDimensions
  /// Decisions, a clause each.
  let steps: [String]

  /// ImageJ's colours of composites, where the file names none.
  private static let usual = [
    [255, 0, 0], [0, 255, 0], [0, 0, 255], [255, 255, 255], [0, 255, 255], [255, 0, 255], [255, 255, 0],
  ]

  /// - Parameters:
  ///   - options: the requested channels, depth and time point. The defaults are all channels, at most the first seven,
  ///     the middle depth and the first time point, among those in the file.
  /// - Returns: nil if the file has no plane of the stack, unless one was requested.
  /// - Throws: an error if a requested channel, depth or time point does not exist.
  init?(_ planes: any StackPlanes, pages count: Int, path: String, _ options: BuildOptions)
    throws(ImagingError)
  {
    func page(_ channel: Int, _ z: Int, _ t: Int) -> Int? {
      planes.page(channel: channel, z: z, t: t).flatMap { $0 < count ? $0 : nil }
    }
    guard options.bands == nil else {
      throw ImagingError(
        opening: path, "has channels and no bands: choose them with --channels instead of --bands")
    }
    try Self.check(options.depth, planes.sizeZ, "planes in depth", path)
    try Self.check(options.time, planes.sizeT, "time points", path)
    let middle = planes.sizeZ / 2
    let depths =
      options.depth.map { [$0 - 1] }
      ?? (0..<planes.sizeZ).sorted { (abs($0 - middle), $0) < (abs($1 - middle), $1) }
    let times = options.time.map { [$0 - 1] } ?? Array(0..<planes.sizeT)
    var best: (z: Int, t: Int, pages: [Int?])?
    search: for t in times {
      for z in depths {
        let pages = planes.channels.indices.map { page($0, z, t) }
        let isWhole = !pages.contains(nil)
        if isWhole || best == nil && pages.contains(where: { $0 != nil }) { best = (z, t, pages) }
        if isWhole { break search }
      }
    }
    let names = planes.channels.enumerated().map { $1.name ?? "channel \($0 + 1)" }
    func whereabouts(_ channel: Int, _ z: Int, _ t: Int) -> String {
      planes.otherFile(channel: channel, z: z, t: t).map { "lies in \($0), another file" }
        ?? "is not in the file"
    }
    guard let (z, t, pages) = best else {
      guard options.depth != nil || options.time != nil || options.channels != nil else { return nil }
      throw ImagingError(opening: path, "its plane of \(names[0]) \(whereabouts(0, depths[0], times[0]))")
    }
    let chosen = try Self.chosen(options.channels, names, planes.channels, pages, path) { channel in
      whereabouts(channel, z, t)
    }
    var colours = planes.channels.enumerated().map { number, channel in
      channel.samples > 1 ? [255, 255, 255] : channel.colour ?? Self.usual[number % Self.usual.count]
    }
    if planes.channels.count == 1, planes.channels[0].colour == nil { colours = [[255, 255, 255]] }
    // Programs without colours write white for each channel; together, the channels would be gray.
    if chosen.count > 1, chosen.allSatisfy({ colours[$0] == [255, 255, 255] }) {
      for (place, channel) in chosen.enumerated() { colours[channel] = Self.usual[place % Self.usual.count] }
    }
    kind = planes is OMEPixels ? "an OME-TIFF" : "an ImageJ hyperstack"
    channels = chosen.compactMap { channel in
      pages[channel].map {
        Channel(
          name: names[channel], colour: colours[channel], isInverted: planes.channels[channel].isInverted,
          page: $0)
      }
    }
    dimensions = ImageDimensions(
      channels: names.indices.map {
        .init(name: names[$0], colour: Self.hexadecimal(colours[$0]), isShown: chosen.contains($0))
      }, sizeZ: planes.sizeZ, sizeT: planes.sizeT, z: z, t: t)
    var steps = channels.filter(\.isInverted).map { "\($0.name) is black where its values are high" }
    if names.count > 1 {
      let list = channels.map { "\($0.name) in \(Self.hexadecimal($0.colour))" }.joined(separator: ", ")
      steps.append("\(chosen.count) of \(names.count) channels: \(list)")
    }
    for channel in names.indices.prefix(Self.usual.count) where pages[channel] == nil {
      steps.append("\(names[channel]) left out: its plane \(whereabouts(channel, z, t))")
    }
    if planes.sizeZ > 1 { steps.append("plane \(z + 1) of \(planes.sizeZ) in depth") }
    if planes.sizeT > 1 {
      steps.append(
        t == 0
          ? BuildRecord.first(of: "\(planes.sizeT) time points") : "time point \(t + 1) of \(planes.sizeT)"
      )
    }
    if planes.images > 1 {
      steps.append(
        planes.image == 0
          ? BuildRecord.first(of: "\(planes.images) images") : "image \(planes.image + 1) of \(planes.images)"
      )
    }
    self.steps = steps
  }

  /// Whether its only page is the picture itself: gray, or red, green and blue.
  var isPage: Bool {
    channels.count == 1 && channels[0].colour == [255, 255, 255] && !channels[0].isInverted
  }

  private static func check(
    _ wanted: Int?, _ count: Int, _ what: String, _ path: String
  ) throws(ImagingError) {
    guard let wanted, wanted > count else { return }
    throw ImagingError(opening: path, "has no number \(wanted) of its \(what): it has \(count)")
  }

  /// - Parameters:
  ///   - wanted: see `BuildOptions.channels`.
  ///   - pages: those of the channels that the file holds.
  ///   - whereabouts: says where the plane of a channel is that the file does not hold.
  private static func chosen(
    _ wanted: [String]?, _ names: [String], _ channels: [StackChannel], _ pages: [Int?], _ path: String,
    _ whereabouts: (Int) -> String
  ) throws(ImagingError) -> [Int] {
    let here = names.indices.filter { pages[$0] != nil }
    guard let wanted else {
      // Light that was let through says nothing of light that was given off: they are never one picture.
      if let coloured = here.first(where: { channels[$0].samples > 1 }) { return [coloured] }
      return Array(here.prefix(usual.count))
    }
    var chosen: [Int] = []
    for each in wanted {
      let name = ChannelNames.unquoted(each)
      let index =
        names.firstIndex { $0.lowercased() == (name ?? each).lowercased() }
        ?? (name == nil ? Int(each) : nil).map { $0 - 1 }.flatMap { names.indices.contains($0) ? $0 : nil }
      guard let index else {
        let list = names.map(ChannelNames.quotedIfNeeded).listed(atMost: 100)
        throw ImagingError(opening: path, "has no channel '\(name ?? each)'; its channels are \(list)")
      }
      guard pages[index] != nil else {
        throw ImagingError(opening: path, "its plane of \(names[index]) \(whereabouts(index))")
      }
      if !chosen.contains(index) { chosen.append(index) }
    }
    if chosen.count > 1, let coloured = chosen.first(where: { channels[$0].samples > 1 }) {
      throw ImagingError(
        opening: path, "'\(names[coloured])' is red, green and blue, and is shown without other channels")
    }
    return chosen
  }

  private static func hexadecimal(_ colour: [Int]) -> String {
    "#" + colour.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }
}

extension VipsImageSource {
  /// Returns the channels of a stack in their colours, each within its own window, added up.
  ///
  /// - Parameter log: the log of a damaged file, whose channels are read as far as possible; nil for any other.
  static func composite(
    _ stack: ImageStack, _ path: String, _ options: BuildOptions, damagedAsIn log: DamageLog? = nil
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
      let list = "--window has windows for \(windows.count) channels"
      throw ImagingError(opening: path, "\(list), and \(count) \(count == 1 ? "is" : "are") shown")
    }
    var sum: Image?
    for (channel, window) in zip(stack.channels, windows) {
      options.window = window
      var own: [String] = []
      let open = { () throws(ImagingError) in
        try Image.source(
          path: path, access: .sequential, page: channel.page, scale: nil, damagedAsIn: log)
      }
      let page = try open()
      guard page.bands == 1 else {
        throw ImagingError(opening: path, "'\(channel.name)' has \(page.bands) bands, and no one colour")
      }
      var image = try eightBits(page, options, isChannel: true, &own, open)
      if channel.isInverted { image = try image.inverted(first: 1, top: 255) }
      steps += own.map { "\(channel.name): \($0)" }
      let coloured = try image.coloured(channel.colour.map { Double($0) / 255 })
      if let below = sum, below.width != coloured.width || below.height != coloured.height {
        throw ImagingError(opening: path, "'\(channel.name)' is of another size than the channel before")
      }
      sum = try sum.map { (below) throws(ImagingError) in try below.added(coloured) } ?? coloured
    }
    guard let sum else { throw ImagingError(opening: path, "has no channel") }
    return (try sum.roundedToRGB(), steps)
  }
}
