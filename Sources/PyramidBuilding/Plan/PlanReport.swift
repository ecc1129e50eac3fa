import Foundation
package import TileStorage
package import ZigguratFiles

/// The results of a plan, from the reports of all builders of its shards.
package struct PlanReport: Sendable {
  /// The last result of each image.
  package let images: [ImageID: ShardReport.Image]
  /// Sources without a final result.
  package let left: [SourceScan.Source]
  /// The number of reports that were read.
  package let count: Int

  /// - Parameter paths: paths of reports, or of folders with reports. Reports of other plans are ignored.
  package init(of plan: SourcePlan, in paths: [String]) throws(StorageError) {
    var ended: Set<ImageID> = []
    var images: [ImageID: ShardReport.Image] = [:]
    var count = 0
    for path in try Self.files(paths) {
      var isOfPlan = false
      try ShardReport.forEachLine(of: path) { line in
        if let head = line.report { isOfPlan = head.plan == plan.name && head.version == ShardReport.version }
        guard isOfPlan else { return }
        if let image = line.image { images[image.id] = image }
        if let id = line.end { ended.insert(id) }
      }
      if isOfPlan { count += 1 }
    }
    self.images = images
    self.count = count
    left = plan.scan.sources.filter { !ended.contains($0.id) }
  }

  /// Returns the roots of the images that are in the library.
  package func claims(of plan: SourcePlan) -> [ImageID: SourceRoot] {
    let roots = Dictionary(
      plan.scan.sources.map { ($0.path, $0.root) }, uniquingKeysWith: { first, _ in first })
    return images.compactMapValues { image in
      LibraryBuilder.Outcome.isInLibrary(image.status) ? roots[image.source] ?? nil : nil
    }
  }

  /// Returns the files in the order of attempts: later results take precedence.
  private static func files(_ paths: [String]) throws(StorageError) -> [String] {
    var files: [String] = []
    for path in paths {
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: path, isDirectory: &isFolder), isFolder.boolValue else {
        files.append(path)
        continue
      }
      guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
        throw StorageError("read \(path)", errno: errno)
      }
      files += names.filter { $0.hasSuffix(ShardReport.ending) }.map { "\(path)/\($0)" }
    }
    return files.sorted { NaturalOrder.precedes($0, $1) }
  }
}
