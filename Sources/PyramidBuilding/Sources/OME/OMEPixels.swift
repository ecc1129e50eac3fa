import TileStorage

/// What the OME-XML in a TIFF's description says of one of its images: how many channels, planes of depth and moments it
/// has, and in which page of the file each plane lies (OME model 2016-06, `Pixels`).
struct OMEPixels {
  struct Channel: Hashable {
    var name: String?
    /// Red, green and blue, each 0…255.
    var colour: [Int]?
  }

  let sizeZ: Int
  let sizeT: Int
  /// As many as there are, whether they are told of or not.
  let channels: [Channel]
  /// Bands of each page: 3 where a channel is red, green and blue.
  let samples: Int
  /// Images in the file.
  let images: Int
  /// The index of this one, counted from 0.
  let image: Int
  /// The page of its first plane, unless its planes say so.
  private let start: Int
  private let order: [Character]
  private let pages: [Int: Int]?

  /// Of which more would be no picture.
  private static let mostPlanes = 1 << 20
  private static let mostChannels = 64

  static func isOME(_ description: String) -> Bool {
    description.contains("<OME") || description.contains("<ome:OME")
  }

  /// Nil where the text is no OME-XML, or none that is understood, as where planes lie in other files.
  ///
  /// - Parameters:
  ///   - image: which of its images, counted from 0.
  ///   - start: the page of the image's first plane, for where the text does not tell it.
  init?(_ description: String, image: Int = 0, at start: Int = 0) {
    guard Self.isOME(description) else { return nil }
    var told = Told(image: image)
    do {
      try XMLElements.read(Array(description.utf8), begin: { told.begin($0) }, end: { told.end($0) })
    } catch { return nil }
    let (samples, images) = (told.samples, told.images)
    guard let pixels = told.pixels, told.files.count <= 1,
      let order = pixels["DimensionOrder"].map(Array.init),
      order.count == 5,
      order.prefix(2) == ["X", "Y"], Set(order.dropFirst(2)) == ["C", "Z", "T"],
      let sizeC = pixels["SizeC"].flatMap({ Int($0) }), let sizeZ = pixels["SizeZ"].flatMap({ Int($0) }),
      let sizeT = pixels["SizeT"].flatMap({ Int($0) }),
      1...4096 ~= sizeC, 1...Self.mostPlanes ~= sizeZ, 1...Self.mostPlanes ~= sizeT, sizeC % samples == 0,
      sizeC / samples <= Self.mostChannels, sizeC * sizeZ <= Self.mostPlanes,
      sizeC * sizeZ * sizeT <= Self.mostPlanes
    else { return nil }
    let count = sizeC / samples
    var channels = Array(told.channels.prefix(count))
    channels += Array(repeating: Channel(), count: count - channels.count)
    (self.channels, self.samples, self.sizeZ, self.sizeT) = (channels, samples, sizeZ, sizeT)
    self.images = images
    self.image = image
    self.order = order
    self.start = image == 0 ? 0 : start
    pages =
      told.data.isEmpty
      ? nil : Self.pages(told.data, order, [count, sizeZ, sizeT], samples, from: self.start)
  }

  /// The elements read so far; only one image's count.
  private struct Told {
    let image: Int
    var pixels: [String: String]?
    var (images, samples) = (0, 1)
    var channels: [Channel] = []
    var data: [Planes] = []
    var files: Set<String> = []
    private var isInside = false

    init(image: Int) { self.image = image }

    mutating func begin(_ element: XMLElements.Element) -> Bool {
      switch element.name {
      case "Image": images += 1
      case "Pixels" where pixels == nil && images == image + 1:
        isInside = true
        pixels = Dictionary(element.values.map { ($0.name, $0.value) }) { first, _ in first }
      case "Channel" where isInside && channels.count < OMEPixels.mostChannels:
        samples = max(samples, element.number("SamplesPerPixel") ?? 1)
        channels.append(
          Channel(
            name: element["Name"].flatMap(OMEPixels.line),
            colour: element.number("Color").map(OMEPixels.colour)))
      case "TiffData" where isInside && data.count < OMEPixels.mostPlanes: data.append(Planes(element))
      case "UUID" where isInside:
        // One more than a stack may lie in says as much as all.
        if files.count < 2, let file = element["FileName"] { files.insert(file) }
      default: break
      }
      return true
    }

    mutating func end(_ name: String) { if name == "Pixels" { isInside = false } }
  }

  /// Where some planes lie: an element `TiffData`.
  private struct Planes {
    let c: Int
    let z: Int
    let t: Int
    let page: Int?
    let count: Int?

    init(_ element: XMLElements.Element) {
      (c, z) = (element.number("FirstC") ?? 0, element.number("FirstZ") ?? 0)
      (t, page) = (element.number("FirstT") ?? 0, element.number("IFD"))
      count = element.number("PlaneCount")
    }
  }

  private static func line(_ text: String) -> String? {
    let line = String(text.prefix(100).filter { !$0.isNewline })
    return line.isEmpty ? nil : line
  }

  /// Of the signed number that OME writes: red, green, blue and how opaque, a byte each.
  private static func colour(_ number: Int) -> [Int] {
    let bits = UInt32(truncatingIfNeeded: number)
    return [Int(bits >> 24), Int(bits >> 16 & 255), Int(bits >> 8 & 255)]
  }

  /// By the planes' numbers in the order of the dimensions.
  private static func pages(
    _ data: [Planes], _ order: [Character], _ sizes: [Int], _ samples: Int, from start: Int
  ) -> [Int: Int] {
    let count = sizes.reduce(1, *)
    var (pages, room): ([Int: Int], Int) = ([:], count)
    for each in data {
      let place = [each.c / samples, each.z, each.t]
      guard zip(place, sizes).allSatisfy({ 0..<$1 ~= $0 }) else { continue }
      let first = index(place, order, sizes)
      let page = each.page
      let planes = each.count ?? (page == nil ? count : 1)
      guard (page ?? start) >= 0, (page ?? start) < mostPlanes else { continue }
      for offset in 0..<max(0, min(planes, count - first, room)) {
        pages[first + offset] = (page ?? start) + offset
      }
      room -= max(0, min(planes, count - first))
      if room <= 0 { break }
    }
    return pages
  }

  /// - Parameters:
  ///   - place: channel, depth and moment, each from 0.
  ///   - sizes: how many there are of each.
  private static func index(_ place: [Int], _ order: [Character], _ sizes: [Int]) -> Int {
    var (index, step) = (0, 1)
    for dimension in order.dropFirst(2) {
      let which = dimension == "C" ? 0 : dimension == "Z" ? 1 : 2
      index += place[which] * step
      step *= sizes[which]
    }
    return index
  }

  /// The page of the file that holds a plane, all counted from 0; nil where the file is said to hold none.
  func page(channel: Int, z: Int, t: Int) -> Int? {
    let index = Self.index([channel, z, t], order, [channels.count, sizeZ, sizeT])
    return pages.map { $0[index] } ?? start + index
  }

  var planeCount: Int { channels.count * sizeZ * sizeT }
}

extension XMLElements.Element {
  fileprivate func number(_ attribute: String) -> Int? { self[attribute].flatMap { Int($0) } }
}
