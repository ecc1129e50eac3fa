/// A request's body on its way in, whole in memory and therefore bounded.
// Sendable: touched by its connection's event loop alone.
final class RequestBody: @unchecked Sendable {
  private let limit: Int
  private(set) var bytes: [UInt8] = []
  /// More came than is taken; nothing of it is kept.
  private(set) var isTooLong = false

  /// - Parameter limit: bytes.
  init(limit: Int) { self.limit = limit }

  func append(_ more: UnsafeRawBufferPointer) {
    guard !isTooLong, bytes.count + more.count <= limit else {
      isTooLong = true
      bytes = []
      return
    }
    bytes.append(contentsOf: more)
  }
}
