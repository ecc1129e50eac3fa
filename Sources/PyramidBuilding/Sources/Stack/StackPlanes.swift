/// The planes of a stack in a TIFF file, in the notation of a program. They give the directory with the plane of a
/// channel, depth and time point. All are counted from 0.
protocol StackPlanes {
  var channels: [StackChannel] { get }
  var sizeZ: Int { get }
  var sizeT: Int { get }
  /// Images in the file, and which one this is.
  var images: Int { get }
  var image: Int { get }

  /// Returns the directory of a plane; nil if this file does not hold the plane.
  func page(channel: Int, z: Int, t: Int) -> Int?

  /// Returns the name of the file that holds a plane which this file does not; nil if no file is named.
  func otherFile(channel: Int, z: Int, t: Int) -> String?
}

extension StackPlanes {
  var planeCount: Int { channels.count * sizeZ * sizeT }
}

/// A channel of a stack.
struct StackChannel: Hashable {
  var name: String?
  /// Red, green and blue, each 0…255.
  var colour: [Int]?
  /// Whether its least value has that colour, and its greatest is black.
  var isInverted = false
  /// Bands of its planes: 3 if it is red, green and blue.
  var samples = 1
}
