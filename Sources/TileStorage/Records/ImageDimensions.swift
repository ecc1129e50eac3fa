/// What a picture has besides width and height, of which its archive shows a part: channels, planes of depth, moments.
package struct ImageDimensions: Codable, Hashable, Sendable {
  /// A wavelength, or what else was looked at by itself.
  package struct Channel: Codable, Hashable, Sendable {
    package let name: String
    /// `#rrggbb`.
    package let colour: String
    /// Whether it is in the archive's picture.
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
  /// The plane that is shown, from 0.
  package let z: Int
  /// The moment that is shown, from 0.
  package let t: Int

  package init(channels: [Channel], sizeZ: Int, sizeT: Int, z: Int, t: Int) {
    self.channels = channels
    self.sizeZ = sizeZ
    self.sizeT = sizeT
    self.z = z
    self.t = t
  }
}
