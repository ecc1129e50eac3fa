/// An image in the OME-XML of a TIFF's description (OME model 2016-06, `Pixels`). It has channels, planes of depth and
/// time points, and the file's page of each plane.
struct OMEPixels: StackPlanes {
  let sizeZ: Int
  let sizeT: Int
  /// All channels, including those without a description.
  let channels: [StackChannel]
  let images: Int
  let image: Int
  /// The page of its first plane, unless the XML gives a page for each plane.
  private let start: Int
  private let order: [Character]
  /// The pages of planes by the planes' numbers; nil if they are in order.
  private let pages: [Int: Int]?
  /// The names of other files, by the numbers of the planes in them.
  private let others: [Int: String]

  /// The maximum of a plausible size.
  private static let maxPlanes = 1 << 20
  private static let maxChannels = 1 << 16

  /// Returns `nil` if the text is not OME-XML, or not understood.
  ///
  /// - Parameters:
  ///   - image: the number of the image, counted from 0.
  ///   - start: the page of the image's first plane, if the text does not give it.
  ///   - samples: the bands of the image's pages, if the text does not give them.
  ///   - name: the name of the file.
  init?(_ description: String, image: Int = 0, at start: Int = 0, samples: Int = 1, name: String = "") {
    guard let text = OMEText(description), text.isWhole, text.images.indices.contains(image) else {
      return nil
    }
    let found = text.images[image]
    guard let order = found.pixels?["DimensionOrder"].map(Array.init), order.count == 5,
      order.prefix(2) == ["X", "Y"], Set(order.dropFirst(2)) == ["C", "Z", "T"],
      let sizeC = found.number("SizeC"), let sizeZ = found.number("SizeZ"), let sizeT = found.number("SizeT"),
      1...Self.maxChannels ~= sizeC, 1...Self.maxPlanes ~= sizeZ, 1...Self.maxPlanes ~= sizeT,
      sizeC * sizeZ <= Self.maxPlanes, sizeC * sizeZ * sizeT <= Self.maxPlanes,
      let channels = Self.channels(found.channels, sizeC, samples)
    else { return nil }
    self.channels = channels
    self.sizeZ = sizeZ
    self.sizeT = sizeT
    self.images = text.images.count
    self.image = image
    self.order = order
    self.start = image == 0 ? 0 : start
    if found.data.isEmpty {
      pages = nil
      others = [:]
    } else {
      (pages, others) = Self.pages(
        found.data, text.identifier, inFileNamed: name, order, channels, sizeZ, sizeT, from: self.start)
    }
  }

  /// Returns the channels. A channel of red, green and blue counts as three in `sizeC`.
  ///
  /// - Returns: nil if the text does not describe exactly these channels.
  private static func channels(
    _ described: [OMEText.Channel], _ sizeC: Int, _ samplesOfPages: Int
  ) -> [StackChannel]? {
    func channel(_ number: Int, samples: Int) -> StackChannel {
      guard described.indices.contains(number) else { return StackChannel(samples: samples) }
      return StackChannel(
        name: described[number].name.flatMap(line),
        colour: described[number].colour.flatMap { Int($0) }.flatMap(colour), samples: samples)
    }
    let each = described.map { max(1, min($0.samples ?? 1, sizeC)) }
    if each.reduce(0, +) == sizeC, described.contains(where: { $0.samples != nil }) || samplesOfPages == 1 {
      return described.indices.map { channel($0, samples: each[$0]) }
    }
    let samples = described.contains { $0.samples != nil } ? each.max() ?? 1 : samplesOfPages
    guard samples > 0, sizeC % samples == 0 else { return nil }
    let count = sizeC / samples
    // A description of each sample does not apply to pages with several samples.
    return (0..<count).map {
      described.count > count ? StackChannel(samples: samples) : channel($0, samples: samples)
    }
  }

  private static func line(_ text: String) -> String? {
    let line = String(text.prefix(100).filter { !$0.isNewline })
    return line.isEmpty ? nil : line
  }

  /// Returns the colour in OME's signed number: red, green, blue and opacity, a byte each. 0 is transparent black,
  /// written by programs without a colour.
  private static func colour(_ number: Int) -> [Int]? {
    if number == 0 { return nil }
    let bits = UInt32(truncatingIfNeeded: number)
    return [Int(bits >> 24), Int(bits >> 16 & 255), Int(bits >> 8 & 255)]
  }

  /// Returns the pages by the planes' numbers in the order of the dimensions.
  private static func pages(
    _ data: [OMEText.Planes], _ identifier: String?, inFileNamed name: String, _ order: [Character],
    _ channels: [StackChannel], _ sizeZ: Int, _ sizeT: Int,
    from start: Int
  ) -> ([Int: Int], [Int: String]) {
    let sizes = [channels.count, sizeZ, sizeT]
    let count = sizes.reduce(1, *)
    // `FirstC` counts channels, as in Bio-Formats, or samples like `SizeC`.
    let ofSample = channels.enumerated().flatMap { Array(repeating: $0, count: $1.samples) }
    var (pages, others, room): ([Int: Int], [Int: String], Int) = ([:], [:], count)
    let names = Set(data.map(\.file))
    for each in data {
      // Without identifiers, the names of files identify them. If the text has a single name, the file may have been
      // renamed.
      let known = each.identifier.flatMap { $0.isEmpty ? nil : $0 }
      let isElsewhere =
        if let identifier, let known {
          known != identifier
        } else {
          names.count > 1 && each.file.map { $0 != name } ?? false
        }
      let channel = each.c < channels.count || !ofSample.indices.contains(each.c) ? each.c : ofSample[each.c]
      let place = [channel, each.z, each.t]
      guard zip(place, sizes).allSatisfy({ 0..<$1 ~= $0 }) else { continue }
      let first = index(place, order, sizes)
      let page = each.directory
      let planes = each.count ?? (page == nil ? count : 1)
      guard (page ?? start) >= 0, (page ?? start) < maxPlanes else { continue }
      for offset in 0..<max(0, min(planes, count - first, room)) {
        if isElsewhere {
          others[first + offset] = each.file ?? ""
        } else {
          pages[first + offset] = (page ?? start) + offset
        }
      }
      room -= max(0, min(planes, count - first))
      if room <= 0 { break }
    }
    return (pages, others)
  }

  /// - Parameters:
  ///   - place: channel, depth and time point, each from 0.
  ///   - sizes: the number of each.
  private static func index(_ place: [Int], _ order: [Character], _ sizes: [Int]) -> Int {
    var (index, step) = (0, 1)
    for dimension in order.dropFirst(2) {
      let which = dimension == "C" ? 0 : dimension == "Z" ? 1 : 2
      index += place[which] * step
      step *= sizes[which]
    }
    return index
  }

  /// Returns the file's page with a plane, all counted from 0; nil if the file does not contain the plane.
  func page(channel: Int, z: Int, t: Int) -> Int? {
    let index = Self.index([channel, z, t], order, [channels.count, sizeZ, sizeT])
    return pages.map { $0[index] } ?? start + index
  }

  func otherFile(channel: Int, z: Int, t: Int) -> String? {
    let index = Self.index([channel, z, t], order, [channels.count, sizeZ, sizeT])
    return others[index].flatMap { $0.isEmpty ? nil : $0 }
  }
}
