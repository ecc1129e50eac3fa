/// The progress of one build, as a sequence of fractions.
///
/// ```swift
/// let progress = BuildProgress()
/// async let report = builder.build("photo.jpg", to: "photo.szi", name: "photo", progress: progress)
/// for await fraction in progress { print(Int(100 * fraction), "%") }
/// print(try await report.byteCount, "bytes")
/// ```
///
/// The sequence ends with the build, also if that fails or is cancelled. A slow consumer skips values, and a build
/// never waits for a consumer. One task can iterate over the sequence, once.
public struct BuildProgress: AsyncSequence, Sendable {
  /// The share of the pyramid's tiles that are encoded, from 0 to 1. It never decreases. The last value of a build that
  /// succeeds is 1.
  public typealias Element = Double

  private let stream: AsyncStream<Double>
  private let continuation: AsyncStream<Double>.Continuation

  /// Creates the progress of a build that has not begun.
  public init() {
    (stream, continuation) = AsyncStream.makeStream(of: Double.self, bufferingPolicy: .bufferingNewest(1))
  }

  /// The iterator of the sequence.
  public struct AsyncIterator: AsyncIteratorProtocol {
    fileprivate var base: AsyncStream<Double>.AsyncIterator

    /// Returns the next value; `nil` if the build has ended or the iterating task is cancelled.
    public mutating func next() async -> Double? { await base.next(isolation: nil) }

    /// Returns the next value; `nil` if the build has ended or the iterating task is cancelled.
    public mutating func next(isolation actor: isolated (any Actor)?) async -> Double? {
      await base.next(isolation: actor)
    }
  }

  /// Returns the iterator. It is to be called once.
  public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(base: stream.makeAsyncIterator()) }

  func report(_ fraction: Double) { continuation.yield(fraction) }

  func end() { continuation.finish() }
}
