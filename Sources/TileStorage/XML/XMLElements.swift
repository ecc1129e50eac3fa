import ZigguratCExpat

/// A streaming parser of untrusted XML, element by element.
///
/// It uses expat: Foundation's parser on Linux ends the process at `<?x?>` and at some document types. A document type
/// is refused, so there are no entities to resolve or to grow.
package enum XMLElements {
  /// The start of an element, valid during the call of the handler.
  package struct Element {
    /// The name without its prefix.
    package let name: String
    /// The name with its prefix, as written.
    package let qualifiedName: String
    /// The nesting depth; 1 for the root.
    package let depth: Int
    /// Alternating names and values, then nil. They belong to expat and are valid until the handler returns.
    fileprivate let attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>

    /// The attributes' names as written, prefixes included, with their values, in which entities are resolved.
    package var values: [(name: String, value: String)] {
      var (values, at): ([(String, String)], Int) = ([], 0)
      while let key = attributes[at], let value = attributes[at + 1] {
        values.append((String(cString: key), String(cString: value)))
        at += 2
      }
      return values
    }

    package subscript(attribute: String) -> String? { values.first { $0.name == attribute }?.value }
  }

  /// The error of a text, with the line.
  package struct ValidationError: Error {
    package let reason: String
  }

  /// Calls the handlers for each element as it begins and ends, up to the end of the text or its first error.
  /// - Parameters:
  ///   - begin: returns whether to continue.
  ///   - text: gets the text between tags, piece by piece.
  ///   - end: gets the element's name, without its prefix.
  package static func read(
    _ xml: [UInt8], begin: @escaping (Element) -> Bool, text: ((UnsafeRawBufferPointer) -> Void)? = nil,
    end: @escaping (String) -> Void = { _ in }
  ) throws(ValidationError) {
    guard let parser = XML_ParserCreate(nil), let length = Int32(exactly: xml.count) else {
      throw ValidationError(reason: "no memory to read it")
    }
    defer { XML_ParserFree(parser) }
    let reader = Reader(parser, begin, text, end)
    XML_SetUserData(parser, Unmanaged.passUnretained(reader).toOpaque())
    XML_SetElementHandler(
      parser,
      { context, name, attributes in Reader.at(context).begin(name!, attributes!) },
      { context, name in Reader.at(context).end(name!) })
    if text != nil {
      XML_SetCharacterDataHandler(parser) { context, bytes, count in
        Reader.at(context).text(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
      }
    }
    XML_SetStartDoctypeDeclHandler(parser) { context, _, _, _, _ in Reader.at(context).refuseDocumentType() }
    let status = withExtendedLifetime(reader) {
      xml.withUnsafeBytes {
        XML_Parse(parser, $0.baseAddress?.assumingMemoryBound(to: CChar.self), length, 1)
      }
    }
    guard status != XML_STATUS_OK, !reader.isContent else { return }
    let what = reader.hasDocumentType ? "a document type, which has no place there," : "not well-formed XML"
    throw ValidationError(reason: "\(what) in line \(XML_GetCurrentLineNumber(parser))")
  }

  private final class Reader {
    private let parser: XML_Parser
    private let handlers:
      (begin: (Element) -> Bool, text: ((UnsafeRawBufferPointer) -> Void)?, end: (String) -> Void)
    private var depth = 0
    var hasDocumentType = false
    /// Whether the handler has asked to stop.
    var isContent = false

    init(
      _ parser: XML_Parser, _ begin: @escaping (Element) -> Bool,
      _ text: ((UnsafeRawBufferPointer) -> Void)?, _ end: @escaping (String) -> Void
    ) {
      self.parser = parser
      handlers = (begin, text, end)
    }

    func text(_ bytes: UnsafeRawBufferPointer) {
      if !isContent { handlers.text?(bytes) }
    }

    /// Returns the reader that `XML_SetUserData` was given; it outlives the parsing.
    static func at(_ context: UnsafeMutableRawPointer?) -> Reader {
      Unmanaged<Reader>.fromOpaque(context!).takeUnretainedValue()
    }

    func begin(_ name: UnsafePointer<CChar>, _ attributes: UnsafeMutablePointer<UnsafePointer<CChar>?>) {
      guard !isContent else { return }
      depth += 1
      guard
        !handlers.begin(
          Element(
            name: Self.local(name), qualifiedName: String(cString: name), depth: depth, attributes: attributes
          ))
      else { return }
      isContent = true
      XML_StopParser(parser, 0)
    }

    func end(_ name: UnsafePointer<CChar>) {
      depth -= 1
      if !isContent { handlers.end(Self.local(name)) }
    }

    func refuseDocumentType() {
      hasDocumentType = true
      XML_StopParser(parser, 0)
    }

    private static func local(_ name: UnsafePointer<CChar>) -> String {
      let whole = String(cString: name)
      return whole.lastIndex(of: ":").map { String(whole[whole.index(after: $0)...]) } ?? whole
    }
  }
}
