import ZigguratHTTPMessages
import ZigguratText
import ZigguratTileProtocols

/// A manifest of IIIF Presentation 2.1 for viewers without support for 3.0. It is converted from the 3.0 manifest.
struct PresentationManifest2 {
  private static let context = "http://iiif.io/api/presentation/2/context.json"

  /// Plain JSON unless a client asks for linked data (Presentation 2.1, section 7.2).
  static let forms = [
    TileDocument.Form(
      name: "application/json", mediaType: "application/json",
      link: "<\(context)>;rel=\"http://www.w3.org/ns/json-ld#context\";type=\"application/ld+json\""),
    TileDocument.Form(
      name: "application/ld+json", mediaType: "application/ld+json;profile=\"\(context)\""),
  ]

  private let manifest: JSONValue
  private let base: String

  init(_ manifest: PresentationManifest) { (self.manifest, base) = (manifest.json, manifest.base) }

  var json: JSONValue {
    var result = resource(manifest, "sc:Manifest")
    result["@context"] = .text(Self.context)
    result["description"] = manifest["summary"].map(value)
    result["attribution"] = manifest["requiredStatement"]?["value"].map(value)
    result["license"] = manifest["rights"]
    result["viewingDirection"] = manifest["viewingDirection"]
    result["viewingHint"] = manifest["behavior"]?.elements?.first
    if let fields = manifest["metadata"]?.elements {
      result["metadata"] = .list(
        fields.map { (field: JSONValue) -> JSONValue in
          ["label": field["label"].map(value) ?? "", "value": field["value"].map(value) ?? ""]
        })
    }
    if let page = manifest["homepage"]?.elements?.first {
      result["related"] = ["@id": page["id"] ?? "", "format": page["format"] ?? ""]
    }
    if let data = manifest["seeAlso"]?.elements?.first {
      result["seeAlso"] = [
        "@id": data["id"] ?? "", "format": data["format"] ?? "", "profile": data["profile"] ?? "",
      ]
    }
    result["sequences"] = [
      [
        "@id": .text("\(id(manifest).dropLast("manifest".count))sequence/normal"), "@type": "sc:Sequence",
        "label": "Pages", "canvases": .list((manifest["items"]?.elements ?? []).map(canvas)),
      ]
    ]
    var ranges: [JSONValue] = []
    for range in manifest["structures"]?.elements ?? [] { add(range, to: &ranges) }
    if !ranges.isEmpty { result["structures"] = .list(ranges) }
    return result
  }

  private func canvas(_ canvas: JSONValue) -> JSONValue {
    var result = resource(canvas, "sc:Canvas")
    for side in ["width", "height"] { result[side] = canvas[side] }
    result["service"] = canvas["service"]?.elements?.first.map { (service: JSONValue) -> JSONValue in
      var result = service
      result["id"] = nil
      result["type"] = nil
      return result
    }
    let pages = canvas["items"]?.elements ?? []
    result["images"] = .list(
      pages.flatMap { $0["items"]?.elements ?? [] }.map { (annotation: JSONValue) -> JSONValue in
        [
          "@id": .text(id(annotation)), "@type": "oa:Annotation", "motivation": "sc:painting",
          "resource": annotation["body"].map(image) ?? [:], "on": .text(id(canvas)),
        ]
      })
    return result
  }

  /// Returns the members that every resource has.
  private func resource(_ resource: JSONValue, _ type: String) -> JSONValue {
    var result: JSONValue = [
      "@id": .text(id(resource)), "@type": .text(type), "label": resource["label"].map(value) ?? "",
    ]
    if let thumbnail = resource["thumbnail"]?.elements?.first { result["thumbnail"] = image(thumbnail) }
    return result
  }

  private func image(_ image: JSONValue) -> JSONValue {
    var result: JSONValue = ["@id": .text(id(image)), "@type": "dctypes:Image"]
    for name in ["format", "width", "height"] { result[name] = image[name] }
    result["service"] = image["service"]?.elements?.first.map { (service: JSONValue) -> JSONValue in
      [
        "@context": "http://iiif.io/api/image/2/context.json", "@id": .text(id(service)),
        "profile": .text(IIIFVersion.two.profile),
      ]
    }
    return result
  }

  /// Ranges are a flat list with references to each other.
  private func add(_ range: JSONValue, to ranges: inout [JSONValue]) {
    let items = range["items"]?.elements ?? []
    var result = resource(range, "sc:Range")
    let canvases = items.filter { $0["type"] == "Canvas" }
    let parts = items.filter { $0["type"] == "Range" }
    if !canvases.isEmpty { result["canvases"] = .list(canvases.map { .text(id($0)) }) }
    if !parts.isEmpty { result["ranges"] = .list(parts.map { .text(id($0)) }) }
    ranges.append(result)
    for part in parts { add(part, to: &ranges) }
  }

  /// Returns the resource's URI in this version, of the presentation API or the image API.
  private func id(_ resource: JSONValue) -> String {
    let id = resource["id"]?.string ?? ""
    for folder in ["/iiif/presentation/", "/iiif/"] where id.hasPrefix("\(base)\(folder)3") {
      let rest = id.dropFirst(base.count + folder.count + 1)
      // The full size has another name in 2.1 (Image API 2.1, section 4.2).
      let name = "/full/max/0/default.jpg"
      guard folder == "/iiif/", rest.hasSuffix(name) else { return "\(base)\(folder)2\(rest)" }
      return "\(base)\(folder)2\(rest.dropLast(name.count))/full/full/0/default.jpg"
    }
    return id
  }

  /// Converts a language map to values with languages (section 4.3).
  private func value(_ languages: JSONValue) -> JSONValue {
    var values: [JSONValue] = []
    for (language, texts) in (languages.members ?? [:]).sorted(by: { $0.key < $1.key }) {
      for text in texts.elements ?? [] {
        values.append(language == "none" ? text : ["@value": text, "@language": .text(language)])
      }
    }
    return values.count == 1 ? values[0] : .list(values)
  }
}
