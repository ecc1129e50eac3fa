/// The dimensions of a picture besides width and height: channels, depth and time. Its archive shows a part of them.
package struct ImageDimensions: Codable, Hashable, Sendable {
  /// A wavelength, or another separate signal.
  package struct Channel: Codable, Hashable, Sendable {
    package let name: String
    /// `#rrggbb`.
    package let colour: String
    /// Whether the archive's picture shows it.
    package let isShown: Bool

    package init(name: String, colour: String, isShown: Bool) {
      self.name = name
      self.colour = colour
      self.isShown = isShown
    }
  }

  package let channels: [Channel]
  package let sizeZ: Int
  package let sizeT: Int
  /// The shown plane, from 0.
  package let z: Int
  /// The shown time point, from 0.
  package let t: Int

  package init(channels: [Channel], sizeZ: Int, sizeT: Int, z: Int, t: Int) {
    self.channels = channels
    self.sizeZ = sizeZ
    self.sizeT = sizeT
    self.z = z
    self.t = t
  }
}
