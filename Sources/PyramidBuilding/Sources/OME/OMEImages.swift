import TileStorage

/// The images that the OME-XML in a TIFF's description tells of, and the directories of the file in which each lies (OME
/// model 2016-06, `Image`).
struct OMEImages {
  struct Image: Equatable {
    let name: String
    /// Counted from 0, in the order of its planes.
    let directories: [Int]
  }

  /// In the order of the text.
  let all: [Image]

  /// Directories of all images together, at most.
  private static let mostDirectories = 1 << 20

  /// `nil` if the text is no OME-XML. What is damaged tells of the images before the damage.
  init?(_ description: String) {
    guard OMEPixels.isOME(description) else { return nil }
    var found = Found()
    try? XMLElements.read(
      Array(description.utf8), begin: { found.begin($0) }, text: { found.text($0) }, end: { found.end($0) })
    all = found.images
  }

  private struct Found {
    var images: [Image] = []
    /// The next directory that belongs to no image yet.
    private var next = 0
    private var room = OMEImages.mostDirectories
    private var own: String?
    private var name: String?
    private var planes = 1
    private var data: [(first: Int?, count: Int?)] = []
    /// The file that the plane lies in, and whether that text is being read.
    private var identifier: String?

    mutating func begin(_ element: XMLElements.Element) -> Bool {
      switch element.name {
      case "OME": own = element["UUID"]
      case "Image":
        name = element["Name"] ?? ""
        (planes, data) = (1, [])
      case "Pixels":
        let sizes = ["SizeZ", "SizeC", "SizeT"].map { element[$0].flatMap { Int($0) } ?? 1 }
        planes = sizes.reduce(1) { min($0 * min(max($1, 1), 1 << 20), 1 << 20) }
      case "Channel" where name != nil:
        // A channel of red, green and blue is one plane.
        if let samples = element["SamplesPerPixel"].flatMap({ Int($0) }), samples > 1, planes % samples == 0 {
          planes /= samples
        }
      case "TiffData" where name != nil && data.count < OMEImages.mostDirectories:
        data.append((element["IFD"].flatMap { Int($0) }, element["PlaneCount"].flatMap { Int($0) }))
      case "UUID": identifier = ""
      default: break
      }
      return true
    }

    mutating func text(_ bytes: UnsafeRawBufferPointer) {
      if let known = identifier, known.utf8.count < 100 {
        identifier = known + String(decoding: bytes, as: UTF8.self)
      }
    }

    mutating func end(_ element: String) {
      switch element {
      case "UUID":
        // Planes of another file.
        if let own, let identifier, identifier.filter({ !$0.isWhitespace }) != own, !data.isEmpty {
          data[data.count - 1].count = 0
        }
        identifier = nil
      case "Image":
        if let name { images.append(Image(name: name, directories: directories())) }
        name = nil
      default: break
      }
    }

    private mutating func directories() -> [Int] {
      var directories: [Int] = []
      for (first, count) in data.isEmpty ? [(nil, nil)] : data {
        let start = first ?? next
        let count = min(count ?? (first == nil ? planes : 1), planes, room)
        guard (0..<OMEImages.mostDirectories).contains(start), count > 0 else { continue }
        directories += start..<start + count
        room -= count
        next = max(next, start + count)
      }
      return directories
    }
  }
}
