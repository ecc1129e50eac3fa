import TileGeometry
import TileStorage
import ZigguratText

/// An image's info.json (IIIF Image API 3.0, section 5; 2.1, section 5).
struct IIIFInformation {
  let version: IIIFVersion
  /// The base URI of the image: absolute, without a slash at its end.
  let id: String
  let archive: TileArchive
  let limits: PictureLimits

  private static let features3 = [
    "canonicalLinkHeader", "mirroring", "profileLinkHeader", "rotationArbitrary", "sizeUpscaling",
  ]
  private static let features2 = [
    "baseUriRedirect", "canonicalLinkHeader", "cors", "jsonldMediaType", "mirroring", "profileLinkHeader",
    "regionByPct", "regionByPx", "regionSquare", "rotationArbitrary", "rotationBy90s", "sizeAboveFull",
    "sizeByConfinedWh", "sizeByDistortedWh", "sizeByForcedWh", "sizeByH", "sizeByPct", "sizeByW", "sizeByWh",
  ]

  /// The document, also as linked data if the client accepts it (3.0, section 5.1; 2.1, section 5.1).
  var document: TileDocument {
    let (linked, plain) = ("application/ld+json", "application/json")
    let profile = "<\(version.profile)>;rel=\"profile\""
    switch version {
    case .three:
      return TileDocument(
        json,
        [
          TileDocument.Form(
            name: linked, mediaType: "\(linked);profile=\"\(version.context)\"", link: profile),
          TileDocument.Form(name: plain, mediaType: plain, link: profile),
        ])
    case .two:
      // A Link header that makes plain JSON linked data.
      let context = "<\(version.context)>;rel=\"http://www.w3.org/ns/json-ld#context\";type=\"\(linked)\""
      return TileDocument(
        json,
        [
          TileDocument.Form(name: plain, mediaType: plain, link: "\(profile),\(context)"),
          TileDocument.Form(name: linked, mediaType: linked, link: profile),
        ])
    }
  }

  /// The qualities besides `default`. `color` is accepted for gray images, too, but not listed (3.0, section 4.4).
  private var qualities: [String] { (archive.isGray ? [] : ["color"]) + ["gray", "bitonal"] }

  private var json: [UInt8] {
    let pyramid = archive.pyramid
    var text = JSONWriter(capacity: 2048)
    text.object { text in
      text.member("@context", version.context)
      switch version {
      case .three:
        text.member("id", id)
        text.member("type", "ImageService3")
      case .two:
        text.member("@id", id)
      }
      text.member("protocol", "http://iiif.io/api/image")
      text.key("profile")
      switch version {
      case .three: text.value("level2")
      case .two:
        text.list { text in
          text.value(version.profile)
          text.object { text in
            text.key("formats")
            write(PictureFormat.allCases.map(\.fileExtension), &text)
            text.key("qualities")
            write(["default"] + qualities, &text)
            text.key("supports")
            write(Self.features2, &text)
            writeLimits(&text)
          }
        }
      }
      text.member("width", pyramid.imageSize.width)
      text.member("height", pyramid.imageSize.height)
      if version == .three { writeLimits(&text) }
      writeSizes(pyramid, &text)
      // Overlapping tiles contain more than a region asks for. Their grid serves as well as any other.
      writeTiles(pyramid, &text)
      if version == .three {
        text.key("preferredFormats")
        write(archive.format.preferred.map(\.fileExtension), &text)
        text.key("extraFormats")
        // Level 2 requires the first two (3.0, section 4.5).
        write(PictureFormat.allCases.filter { $0 != .jpg && $0 != .png }.map(\.fileExtension), &text)
        text.key("extraQualities")
        write(qualities, &text)
        text.key("extraFeatures")
        write(Self.features3, &text)
        if let rights = RightsAddress(archive.metadata)?.text { text.member("rights", rights) }
      } else {
        writeRights2(&text)
      }
      if let scale = PhysicalDimensions(archive) { write(scale, &text) }
    }
    return text.bytes
  }

  /// Writes rights as in version 2.1, section 5.4. Viewers show the attribution as HTML.
  private func writeRights2(_ text: inout JSONWriter) {
    let metadata = archive.metadata
    let license = RightsAddress(metadata)?.text
    let rights = metadata.rights.flatMap { license != nil && RightsAddress($0)?.text == license ? nil : $0 }
    let attribution = [rights, metadata.usageTerms, metadata.credit].compactMap(\.self)
    if !attribution.isEmpty {
      text.member("attribution", HTMLText.escaped(attribution.joined(separator: "\n")))
    }
    if let address = license ?? metadata.license ?? metadata.webStatement { text.member("license", address) }
  }

  /// Writes the service of physical dimensions (3.0, section 5.8; 2.1, section 5.3).
  private func write(_ scale: PhysicalDimensions, _ text: inout JSONWriter) {
    func object(_ text: inout JSONWriter) {
      text.object { text in
        text.member("@context", PhysicalDimensions.context)
        if version == .three {
          text.member("id", PhysicalDimensions.id(of: id))
          text.member("type", PhysicalDimensions.type)
        }
        text.member("profile", PhysicalDimensions.profile)
        text.member("physicalScale", scale.millimetres)
        text.member("physicalUnits", PhysicalDimensions.units)
      }
    }
    text.key("service")
    if version == .three { text.list(object) } else { object(&text) }
  }

  private func write(_ names: [String], _ text: inout JSONWriter) {
    text.list { text in for name in names { text.value(name) } }
  }

  private func writeLimits(_ text: inout JSONWriter) {
    text.member("maxWidth", PictureLimits.side)
    text.member("maxHeight", PictureLimits.side)
    text.member("maxArea", limits.area)
  }

  /// Writes every level within the limits, as required (3.0, section 5.2), coarsest first, each side rounded up.
  private func writeSizes(_ pyramid: Pyramid, _ text: inout JSONWriter) {
    text.key("sizes")
    text.list { text in
      for level in archive.coarsestLevel..<pyramid.levelCount {
        let size = pyramid.size(ofLevel: level)
        guard limits.allow(size) else { continue }
        text.object { text in
          text.member("width", size.width)
          text.member("height", size.height)
        }
      }
    }
  }

  private func writeTiles(_ pyramid: Pyramid, _ text: inout JSONWriter) {
    text.key("tiles")
    text.list { text in
      text.object { text in
        text.member("width", pyramid.tileSize)
        text.member("height", pyramid.tileSize)
        text.key("scaleFactors")
        text.list { text in
          for factor in IIIFGrid.scaleFactors(of: pyramid, from: archive.coarsestLevel) { text.value(factor) }
        }
      }
    }
  }
}
