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
  /// The names of other files that hold planes of the images, or say what the images are; each once.
  let otherFiles: [String]

  /// Directories of all images together, at most.
  private static let mostDirectories = 1 << 20

  /// `nil` if the text is no OME-XML. What is damaged tells of the images before the damage.
  ///
  /// - Parameter file: the name of the file with the text.
  init?(_ description: String, inFileNamed file: String = "") {
    guard OMEPixels.isOME(description) else { return nil }
    var found = Found()
    try? XMLElements.read(
      Array(description.utf8), begin: { found.begin($0) }, text: { found.text($0) }, end: { found.end($0) })
    all = found.images
    // A file with one name alone, and no identifier, has been renamed.
    let isSure = found.hasOwnIdentifier || found.names.count + min(1, found.unnamedCount) > 1
    let names = isSure ? found.names.filter { $0 != file } : []
    otherFiles = names + found.descriptions
  }

  /// Returns the image that a directory is a plane of; nil if there is none.
  func image(ofDirectory directory: Int) -> Int? { all.firstIndex { $0.directories.contains(directory) } }

  private struct Found {
    var images: [Image] = []
    /// Names of files that hold planes, but this one's if identifiers say which that is.
    var names: [String] = []
    /// Names of files that the text is kept in instead.
    var descriptions: [String] = []
    /// Elements `TiffData` that name no file.
    var unnamedCount = 0
    var hasOwnIdentifier: Bool { own != nil }
    /// The next directory that belongs to no image yet.
    private var next = 0
    private var room = OMEImages.mostDirectories
    private var own: String?
    private var name: String?
    /// As `SizeC` counts, and the bands of the channels' planes.
    private var (sizeC, samples): (Int, [Int]) = (1, [])
    /// Planes of one channel.
    private var planesOfChannel = 1
    private var fileName: String?
    private var data: [(first: Int?, count: Int?)] = []
    /// The file that the plane lies in, and whether that text is being read.
    private var identifier: String?

    mutating func begin(_ element: XMLElements.Element) -> Bool {
      switch element.name {
      case "OME": own = element["UUID"]
      case "Image":
        name = element["Name"] ?? ""
        planesOfChannel = 1
        sizeC = 1
        samples = []
        data = []
      case "Pixels":
        func size(_ name: String) -> Int { min(max(element[name].flatMap { Int($0) } ?? 1, 1), 1 << 20) }
        planesOfChannel = size("SizeZ") * size("SizeT")
        sizeC = size("SizeC")
      case "Channel" where name != nil && samples.count < OMEImages.mostDirectories:
        let count = element["SamplesPerPixel"].flatMap { Int($0) } ?? 1
        samples.append(min(max(count, 1), 1 << 20))
      case "BinaryOnly":
        if let file = element["MetadataFile"], descriptions.isEmpty { descriptions.append(file) }
      case "TiffData" where name != nil && data.count < OMEImages.mostDirectories:
        data.append((element["IFD"].flatMap { Int($0) }, element["PlaneCount"].flatMap { Int($0) }))
        unnamedCount += 1
      case "UUID":
        identifier = ""
        fileName = element["FileName"]
        if fileName != nil { unnamedCount -= 1 }
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
        let isOwn = own != nil && identifier?.filter { !$0.isWhitespace } == own
        // Planes of another file.
        if own != nil, identifier != nil, !isOwn, !data.isEmpty { data[data.count - 1].count = 0 }
        if !isOwn, let fileName, names.count < 1000, !names.contains(fileName) { names.append(fileName) }
        identifier = nil
        fileName = nil
      case "Image":
        if let name { images.append(Image(name: name, directories: directories())) }
        name = nil
      default: break
      }
    }

    /// A channel of red, green and blue is one plane.
    private var planes: Int {
      let most = samples.max() ?? 1
      let channels = samples.reduce(0, +) == sizeC ? samples.count : sizeC % most == 0 ? sizeC / most : sizeC
      return min(channels * min(planesOfChannel, 1 << 20), 1 << 20)
    }

    private mutating func directories() -> [Int] {
      var directories: [Int] = []
      let planes = planes
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
