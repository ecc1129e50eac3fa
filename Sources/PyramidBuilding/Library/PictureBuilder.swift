import TileStorage
import ZigguratFiles
import ZigguratImaging

/// A builder of pictures for one thread of a run: a sandboxed process, or this process if it has none.
protocol PictureBuilder: AnyObject {
  /// The pictures of the run that are in work.
  var pool: WorkPool { get }

  /// Builds a picture, or returns the pages if the source has several.
  ///
  /// - Parameter upcoming: the sources that follow in the queue.
  func build(_ job: PictureJob, before upcoming: () -> ArraySlice<SourceScan.Source>) -> PictureResult

  /// Releases the resources kept for the next picture.
  func end()
}

extension PictureBuilder {
  /// Builds a page or an associated image.
  func build(part job: PictureJob) -> LibraryBuilder.Outcome {
    guard case .outcome(let outcome) = build(job, before: { [] }) else {
      return .failed(BuildError(job.source.path, "its associated image has several pages"))
    }
    return outcome
  }
}

/// A source that has to be built, or a part of it.
struct PictureJob {
  var source: SourceScan.Source
  let file: SourceFile
  let digest: String
  var metadata: SourceMetadata
  /// The contents of a TIFF file; nil for any other.
  var contents: SourceContents?
  /// The page; nil if the source has one picture, or if its pages are not known yet.
  var page: SourcePage?
  /// The associated image of a slide; nil for the slide itself and for any other source.
  var associated: AssociatedImage?
  /// The outcome, if no build is needed; nil if it has to be built.
  var outcome: LibraryBuilder.Outcome?
}

/// The result of a job.
enum PictureResult {
  case outcome(LibraryBuilder.Outcome)
  /// The source has several pages, or a dry run only counted them.
  case pages(PagesMessage)
}

/// Builds pictures in this process, for programs that use the library without sandboxed processes.
final class InProcessPictureBuilder: PictureBuilder {
  private let builder: LibraryBuilder
  let pool: WorkPool

  init(_ builder: LibraryBuilder, _ pool: WorkPool) {
    self.builder = builder
    self.pool = pool
  }

  func build(_ job: PictureJob, before upcoming: () -> ArraySlice<SourceScan.Source>) -> PictureResult {
    do throws(BuildError) {
      if builder.isCancelled() { throw .interrupted }
      let options = builder.options(of: job.source)
      if job.page == nil, job.associated == nil,
        let pages = try PagesMessage(of: job.file, options, countsOnly: builder.isDryRun)
      {
        return .pages(pages)
      }
      var pyramids = PyramidBuilder(options: options, threads: 1, isCancelled: builder.isCancelled)
      pyramids.onProgress = builder.onProgress
      let report = try pyramids.build(
        job.file, page: job.page, folio: job.source.folio, associated: job.associated, digest: job.digest,
        metadata: job.metadata, for: pool
      ) { (pyramid, format) throws(StorageError) in
        try builder.store.makeWriter(
          id: job.source.id, pyramid: pyramid, format: format,
          replacing: builder.mayReplace(job.source.id, digest: job.digest))
      }
      return .outcome(.built(report))
    } catch { return .outcome(.failed(error)) }
  }

  func end() {}
}
