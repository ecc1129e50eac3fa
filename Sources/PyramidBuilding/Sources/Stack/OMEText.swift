import TileStorage

/// The OME-XML in a TIFF's description (OME model 2016-06), up to its first damage.
struct OMEText {
  /// An element `Image`.
  struct Image {
    let name: String
    /// The attributes of its element `Pixels`; `nil` if there is none.
    fileprivate(set) var pixels: [String: String]?
    fileprivate(set) var channels: [Channel] = []
    fileprivate(set) var data: [Planes] = []
    /// The directories of its planes, counted from 0, in the order of the planes.
    fileprivate(set) var directories: [Int] = []

    init(name: String) { self.name = name }

    func number(_ attribute: String) -> Int? { pixels?[attribute].flatMap { Int($0) } }
  }

  /// An element `Channel`.
  struct Channel {
    let name, colour: String?
    let samples: Int?
  }

  /// Places of some planes: an element `TiffData`.
  struct Planes {
    let c, z, t: Int
    let directory, count: Int?
    /// The name of the file that holds them; nil means this file.
    fileprivate(set) var file: String?
    /// The identifier of that file; nil if there is none.
    fileprivate(set) var identifier: String?
  }

  /// The images that are whole, in the order of the text.
  private(set) var images: [Image] = []
  /// The image in which the text is damaged, as far as it goes; nil if there is none.
  private(set) var damagedImage: Image?
  /// The identifier of the file with the text; nil if there is none.
  private(set) var identifier: String?
  /// The name of the file that the text is kept in instead; nil if there is none.
  private(set) var textFile: String?
  /// Whether the text is well-formed.
  let isWhole: Bool

  /// Planes and channels of all images together, at most, and directories.
  private static let maximum = 1 << 20

  static func isOME(_ description: String) -> Bool {
    description.contains("<OME") || description.contains("<ome:OME")
  }

  /// `nil` if the text is no OME-XML.
  init?(_ description: String) {
    guard Self.isOME(description) else { return nil }
    var reader = Reader()
    do {
      try XMLElements.read(
        Array(description.utf8), begin: { reader.begin($0) }, text: { reader.text($0) },
        end: { reader.end($0) })
      isWhole = true
    } catch { isWhole = false }
    images = reader.images
    damagedImage = reader.image
    identifier = reader.identifier
    textFile = reader.textFile
  }

  /// Returns the image that a directory is a plane of; nil if there is none.
  func image(ofDirectory directory: Int) -> Int? { images.firstIndex { $0.directories.contains(directory) } }

  /// Returns the names of other files that contain planes or the description of the images; each once.
  ///
  /// - Parameter name: the name of the file with the text.
  func filesBesides(_ name: String) -> [String] {
    let data = images.flatMap(\.data)
    var names: [String] = []
    for planes in data where identifier == nil || planes.identifier != identifier {
      if let file = planes.file, !file.isEmpty, names.count < 1000, !names.contains(file) {
        names.append(file)
      }
    }
    // A file with one name alone, and no identifier, has been renamed.
    let hasUnnamed = data.contains { ($0.file ?? "").isEmpty }
    let isSure = identifier != nil || names.count + (hasUnnamed ? 1 : 0) > 1
    return (isSure ? names.filter { $0 != name } : []) + (textFile.map { [$0] } ?? [])
  }

  private struct Reader {
    var images: [Image] = []
    /// The image that is being read.
    var image: Image?
    var identifier: String?
    var textFile: String?
    /// The identifier of the file that the last planes lie in, while that is being read.
    private var fileIdentifier: String?
    private var isInPixels = false
    /// The next directory that belongs to no image yet.
    private var next = 0
    /// Elements, and directories, that may yet come.
    private var (room, directoriesLeft) = (OMEText.maximum, OMEText.maximum)

    mutating func begin(_ element: XMLElements.Element) -> Bool {
      func number(_ attribute: String) -> Int? { element[attribute].flatMap { Int($0) } }
      switch element.name {
      case "OME": identifier = element["UUID"]
      case "BinaryOnly": textFile = textFile ?? element["MetadataFile"]
      case "Image": image = Image(name: element["Name"] ?? "")
      case "Pixels" where image?.pixels == nil:
        isInPixels = image != nil
        image?.pixels = Dictionary(element.values.map { ($0.name, $0.value) }) { first, _ in first }
      case "Channel" where isInPixels && room > 0:
        room -= 1
        image?.channels.append(
          Channel(
            name: element["Name"], colour: element["Color"], samples: number("SamplesPerPixel")))
      case "TiffData" where isInPixels && room > 0:
        room -= 1
        image?.data.append(
          Planes(
            c: number("FirstC") ?? 0, z: number("FirstZ") ?? 0, t: number("FirstT") ?? 0,
            directory: number("IFD"), count: number("PlaneCount")))
      case "UUID" where isInPixels && image?.data.isEmpty == false:
        changeLast { $0.file = element["FileName"] ?? "" }
        fileIdentifier = ""
      default: break
      }
      return true
    }

    private mutating func changeLast(_ change: (inout Planes) -> Void) {
      if let last = image?.data.indices.last { change(&image!.data[last]) }
    }

    mutating func text(_ bytes: UnsafeRawBufferPointer) {
      if let known = fileIdentifier, known.utf8.count < 100 {
        fileIdentifier = known + String(decoding: bytes, as: UTF8.self)
      }
    }

    mutating func end(_ element: String) {
      switch element {
      case "Pixels": isInPixels = false
      case "UUID":
        if let known = fileIdentifier { changeLast { $0.identifier = known.filter { !$0.isWhitespace } } }
        fileIdentifier = nil
      case "Image":
        guard var whole = image else { return }
        whole.directories = directories(of: whole)
        images.append(whole)
        image = nil
      default: break
      }
    }

    private mutating func directories(of image: Image) -> [Int] {
      var directories: [Int] = []
      let planes = image.planeCount
      for part in image.data.isEmpty ? [Planes(c: 0, z: 0, t: 0, directory: nil, count: nil)] : image.data {
        // Planes of another file.
        if identifier != nil, part.identifier.map({ $0 != identifier }) ?? false { continue }
        let start = part.directory ?? next
        let count = min(part.count ?? (part.directory == nil ? planes : 1), planes, directoriesLeft)
        guard (0..<OMEText.maximum).contains(start), count > 0 else { continue }
        directories += start..<start + count
        directoriesLeft -= count
        next = max(next, start + count)
      }
      return directories
    }
  }
}

extension OMEText.Image {
  /// The number of planes in which it lies: a channel of red, green and blue is one plane.
  fileprivate var planeCount: Int {
    func size(_ name: String) -> Int { min(max(number(name) ?? 1, 1), 1 << 20) }
    let (sizeC, samples) = (size("SizeC"), channels.map { min(max($0.samples ?? 1, 1), 1 << 20) })
    let most = samples.max() ?? 1
    let count = samples.reduce(0, +) == sizeC ? samples.count : sizeC % most == 0 ? sizeC / most : sizeC
    return min(count * min(size("SizeZ") * size("SizeT"), 1 << 20), 1 << 20)
  }
}
