import Glibc
public import TileStorage

/// Builds the archives of many images into a library.
public struct LibraryBuilder: Sendable {
  public let library: String
  public var options: BuildOptions
  /// Threads in all.
  public var jobs: Int
  /// Builds what is there and unchanged again, too.
  public var force = false
  /// Tells what would be built and writes nothing.
  public var isDryRun = false
  private let isCancelled: @Sendable () -> Bool

  public init(
    library: String, options: BuildOptions, jobs: Int, isCancelled: @escaping @Sendable () -> Bool = { false }
  ) {
    (self.library, self.options, self.jobs, self.isCancelled) = (library, options, jobs, isCancelled)
  }

  /// How one image came out.
  public enum Outcome: Sendable {
    case built(PyramidBuilder.Report)
    /// The archive there was built from the same bytes with the same options.
    case unchanged
    /// A dry run's word for an image that is new or has changed.
    case wouldBuild
    case failed(BuildError)
  }

  /// Makes the library's folder if it is missing and clears away what killed builders left.
  public func prepare() throws(StorageError) {
    if isDryRun { return }
    try FolderTree.make(library)
    FolderTree.removeLeftovers(below: library)
  }

  /// Where the archive of an image stands.
  public func archivePath(ofID id: String) -> String { "\(library)/\(id).szi" }

  /// Builds one source, each of its pages; every failure is in an outcome. The source's pages have the
  /// ids `id/1`, `id/2`, …
  func build(
    _ source: SourceScan.Source, threads: Int, offering pool: WorkPool? = nil,
    report: (SourceScan.Source, Outcome) -> Void
  ) {
    do throws(BuildError) {
      if isCancelled() { throw .interrupted }
      let file = try SourceFile(path: source.path)
      let digest = try file.digest()
      if !force, isBuilt(source, digest) { return report(source, .unchanged) }
      let pages = try SourcePages.count(path: source.path)
      if pages == 1 {
        return report(source, build(source, page: nil, file, digest, threads, pool))
      }
      guard source.page == nil else {
        throw BuildError(source.path, "has \(pages) pages; in a book every page is a file of its own")
      }
      for page in 0..<pages {
        let part = SourceScan.Source(path: source.path, id: "\(source.id)/\(page + 1)")
        report(part, build(part, page: page, file, digest, threads, pool))
      }
    } catch {
      report(source, .failed(error))
    }
  }

  private func build(
    _ source: SourceScan.Source, page: Int?, _ file: SourceFile, _ digest: String, _ threads: Int,
    _ pool: WorkPool?
  ) -> Outcome {
    do throws(BuildError) {
      if isCancelled() { throw .interrupted }
      if !force, page != nil, isBuilt(source, digest) { return .unchanged }
      if isDryRun { return .wouldBuild }
      let destination = archivePath(ofID: source.id)
      do throws(StorageError) {
        try FolderTree.make(parentFolder(destination))
      } catch { throw BuildError(source.path, error) }
      let name = source.id.split(separator: "/").last.map(String.init) ?? source.id
      return .built(
        try PyramidBuilder(options: options, threads: threads, isCancelled: isCancelled)
          .build(
            file, page: page, bookPage: source.page, digest: digest, to: destination, name: name,
            offering: pool))
    } catch {
      return .failed(error)
    }
  }

  /// Archives that Ziggurat built and that belong to none of `sources`; removed unless this is a dry run.
  ///
  /// Archives from elsewhere are left alone: what built them may not be there to build them again.
  /// - Returns: the ids, sorted.
  public func prune(keeping sources: [SourceScan.Source]) throws(StorageError) -> [String] {
    let kept = Set(sources.map(\.id))
    var ids: [String] = []
    for path in try FolderTree.archives(at: library) {
      let id = String(path.dropFirst(library.count + 1).dropLast(4))
      // A page belongs to its source.
      guard !kept.contains(id), !kept.contains(parentFolder(id)) else { continue }
      guard (try? SZIArchive(path: path))?.buildRecord != nil else { continue }
      if !isDryRun, unlink(path) != 0 { throw StorageError("remove \(path)", errno: errno) }
      ids.append(id)
    }
    return ids
  }

  private func isBuilt(_ source: SourceScan.Source, _ digest: String) -> Bool {
    guard let record = try? SZIArchive(path: archivePath(ofID: source.id)).buildRecord else { return false }
    return record.sourceDigest == digest && record.options == options.summary
  }
}
