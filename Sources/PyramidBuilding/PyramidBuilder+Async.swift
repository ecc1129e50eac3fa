import TileGeometry
import TileStorage
import ZigguratConcurrency

extension PyramidBuilder {
  /// Builds the archive of an image file.
  ///
  /// The archive appears at `destination`, complete and synced to disk, and replaces an older one. If the build fails
  /// or is cancelled, nothing is left behind, and an older archive stays as it was. An XMP sidecar beside the source is
  /// read into the archive's metadata. Of a file with several pages the first is built.
  ///
  /// Cancel the awaiting task to cancel the build. It ends after the strips of tiles that are in work.
  ///
  /// The source is decoded in this process. A decoder that crashes on a damaged or malicious file takes the process
  /// with it. The command `ziggurat build` decodes each file in a sandboxed process.
  ///
  /// - Parameters:
  ///   - source: the path of a regular file in a format that libvips or this module reads.
  ///   - destination: the path of the archive, in a folder that exists. Its usual extension is `szi`.
  ///   - name: the name of the one folder in the archive: 1 to 255 bytes of UTF-8 without a slash, not `.` or `..`.
  ///   - progress: receives the fraction that is done; `nil`, the default, if nobody wants it.
  /// - Returns: a description of the archive.
  /// - Throws: any kind of `BuildError`; `cancelled` if the awaiting task is cancelled.
  public func build(
    _ source: String, to destination: String, name: String, progress: BuildProgress? = nil
  ) async throws(BuildError) -> Report {
    try await run(source, name, progress) { (builder) throws(BuildError) in
      try builder.build(source, to: destination, name: name)
    }
  }

  /// Builds the archive of pixels that the program makes.
  ///
  /// The archive, cancellation and errors are as of the build of a file. Samples of 16 bits are first spread over their
  /// range, if `BuildOptions.window` has values, and then reduced to their upper 8 bits. If the tiles' format has no
  /// alpha, colours are laid over `BuildOptions.background`. `fidelity`, `intent` and `keepsProfile` have no effect.
  ///
  /// - Parameters:
  ///   - source: the pixels. The build has it for itself.
  ///   - destination: the path of the archive, in a folder that exists. Its usual extension is `szi`.
  ///   - name: the name of the one folder in the archive: 1 to 255 bytes of UTF-8 without a slash, not `.` or `..`.
  ///   - progress: receives the fraction that is done; `nil`, the default, if nobody wants it.
  /// - Returns: a description of the archive.
  /// - Throws: any kind of `BuildError`; `cancelled` if the awaiting task is cancelled; `invalidArgument` also for
  ///   `BuildOptions.bands`, and for a window that is not one of values.
  public func build(
    _ source: sending some PixelSource, to destination: String, name: String, progress: BuildProgress? = nil
  ) async throws(BuildError) -> Report {
    let given = Given(source)
    return try await run(name, name, progress) { (builder) throws(BuildError) in
      try builder.build(pixels: given.source, to: destination, name: name)
    }
  }

  /// Carries a source to the thread that builds.
  private final class Given<Source>: @unchecked Sendable {
    // Sendable: the caller gave the source away, and one thread takes it.
    let source: Source
    init(_ source: Source) { self.source = source }
  }

  /// Builds on a thread of its own, because a build blocks, and the threads of Swift's concurrency must not block.
  ///
  /// - Parameter source: the name of the source in errors.
  private func run(
    _ source: String, _ name: String, _ progress: BuildProgress?,
    _ body: @escaping @Sendable (PyramidBuilder) throws(BuildError) -> Report
  ) async throws(BuildError) -> Report {
    defer { progress?.end() }
    if let refusal = refusal ?? TileArchiveWriter.refusal(name: name) {
      throw BuildError(source, refusal, .invalidArgument)
    }
    let cancellation = OneShotEvent()
    let builder = observed(progress, cancellation)
    @Sendable func work() -> Result<Report, BuildError> {
      do throws(BuildError) {
        if cancellation.isSet { throw BuildError.interrupted }
        return .success(try body(builder))
      } catch {
        let error: BuildError = error
        return .failure(error.kind == .cancelled ? error.about(source, error.reason) : error)
      }
    }
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation {
        (continuation: CheckedContinuation<Result<Report, BuildError>, Never>) in
        if StartedThread.detached({ continuation.resume(returning: work()) }) { return }
        let error = BuildError(source, "the system gives no thread", .unavailable)
        continuation.resume(returning: .failure(error))
      }
    } onCancel: {
      cancellation.set()
    }
    return try result.get()
  }

  private func observed(_ progress: BuildProgress?, _ cancellation: OneShotEvent) -> PyramidBuilder {
    var builder = self
    builder.isCancelled = { cancellation.isSet }
    if let progress { builder.onProgress = { progress.report($0) } }
    return builder
  }

  /// Returns why nothing can be built with these options; `nil` if something can.
  private var refusal: String? {
    guard 1...1024 ~= threads else { return "invalid number of threads \(threads) (expected 1 to 1024)" }
    if encoder != nil, options.keepsProfile { return "an encoder cannot be used with keepsProfile" }
    return options.refusal
  }
}

extension BuildOptions {
  /// Returns the first value outside its documented range, in a clause; `nil` if there is none.
  var refusal: String? {
    guard Self.tileSizes.contains(tileSize), tileSize % 2 == 0 else {
      let (least, most) = (Self.tileSizes.lowerBound, Self.tileSizes.upperBound)
      return "invalid tile size \(tileSize) (expected an even number from \(least) to \(most))"
    }
    guard 1...100 ~= quality else { return "invalid quality \(quality) (expected 1 to 100)" }
    guard background.count == 3, background.allSatisfy({ 0...255 ~= $0 }) else {
      return "invalid background \(background) (expected three numbers from 0 to 255)"
    }
    if let bands, ![1, 3].contains(bands.count) || !bands.allSatisfy({ 1...65535 ~= $0 }) {
      return "invalid bands \(bands) (expected one or three numbers from 1)"
    }
    // Only the curve of sRGB is known.
    if downsampling == .linear, keepsProfile { return "linear downsampling cannot be used with keepsProfile" }
    return window.flatMap(\.refusal)
  }
}

extension SampleWindow {
  /// Returns why no picture has this window; `nil` if one may have it.
  var refusal: String? {
    switch self {
    case .auto, .full: return nil
    case .range(let low, let high):
      switch (low, high) {
      case (.value(let low), .value(let high)) where low < high && (high - low).isFinite: return nil
      case (.percentile(let low), .percentile(let high)) where low < high && low >= 0 && high <= 100:
        return nil
      case (.value(let value), .percentile(let share)), (.percentile(let share), .value(let value)):
        if value.isFinite, 0...100 ~= share { return nil }
      default: break
      }
      return "invalid window (expected a lower and a higher value, or percentiles from 0 to 100)"
    case .channels(let windows):
      if windows.isEmpty { return "invalid window (expected one for each channel)" }
      return windows.lazy.compactMap(\.refusal).first
    }
  }
}
