import CExpat

/// The attributes of a small XML document's root and of the elements right below it, by
/// `Element.Attribute`.
///
/// By expat: Foundation's parser on Linux ends the process at `<?x?>` and at some document types, and
/// archives come from strangers. A document type is refused, so there are no entities to resolve or to grow.
struct XMLAttributes {
  private(set) var values: [String: String] = [:]

  /// The error says what is wrong, with the line.
  init(_ xml: UnsafeRawBufferPointer) throws(Refusal) {
    guard let parser = XML_ParserCreate(nil), let length = Int32(exactly: xml.count) else {
      throw Refusal(reason: "no memory to read it")
    }
    defer { XML_ParserFree(parser) }
    let reader = Reader(parser)
    XML_SetUserData(parser, Unmanaged.passUnretained(reader).toOpaque())
    XML_SetElementHandler(
      parser,
      { context, name, attributes in Reader.at(context).begin(name!, attributes!) },
      { context, _ in Reader.at(context).depth -= 1 })
    XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in Reader.at(context).refuseDocumentType() }
    let status = withExtendedLifetime(reader) {
      XML_Parse(parser, xml.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
    }
    guard status == XML_STATUS_OK else {
      let what = reader.hasDocumentType ? "a document type, which has no place there," : "not well-formed XML"
      throw Refusal(reason: "\(what) in line \(XML_GetCurrentLineNumber(parser))")
    }
    values = reader.values
  }

  struct Refusal: Error {
    let reason: String
  }

  private final class Reader {
    private let parser: XML_Parser
    var values: [String: String] = [:]
    var depth = 0
    var hasDocumentType = false

    init(_ parser: XML_Parser) { self.parser = parser }

    /// The reader that `XML_SetUserData` was given; it outlives the parsing.
    static func at(_ context: UnsafeMutableRawPointer?) -> Reader {
      Unmanaged<Reader>.fromOpaque(context!).takeUnretainedValue()
    }

    /// - Parameter attributes: names and values in turn, then nil.
    func begin(_ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
      depth += 1
      guard depth <= 2 else { return }
      let element = String(cString: name)
      var at = 0
      while let key = attributes[at], let value = attributes[at + 1] {
        values["\(element).\(String(cString: key))"] = String(cString: value)
        at += 2
      }
    }

    func refuseDocumentType() {
      hasDocumentType = true
      XML_StopParser(parser, 0)
    }
  }
}
