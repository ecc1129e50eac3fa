package import TileStorage
import ZigguratImaging

/// Archives that show the label, or the whole glass, of a slide although no build was asked for it. Earlier versions
/// built them as pages.
package enum PublishedSlideLabel {
  /// Whether the archive may show a label, by its record.
  package static func isPossible(_ record: BuildRecord) -> Bool {
    ImageFileName.mayHoldLabel(record.sourceName) && record.associatedAs == nil && !record.keepsAssociated
  }

  /// Returns a clause about the picture that such an archive shows; nil for any other archive.
  ///
  /// - Parameters:
  ///   - metadata: the archive's metadata.
  ///   - paths: possible paths of its source.
  package static func defect(_ record: BuildRecord, _ metadata: ImageMetadata, sources paths: [String])
    -> String?
  {
    guard isPossible(record) else { return nil }
    for path in paths {
      guard let file = try? SourceFile(path: path, name: record.sourceName),
        file.identity.size == record.sourceBytes, let contents = SourceContents(file)
      else { continue }
      guard let role = contents.published(by: record) else {
        // The file is the source, and the archive does not show its label.
        if (try? file.digest()) == record.sourceDigest { return nil }
        continue
      }
      guard (try? file.digest()) == record.sourceDigest else { continue }
      return clause(role)
    }
    // Without the source: every archive of the file has the metadata of its first picture.
    guard (record.directory ?? record.page ?? 1) == 1 else { return nil }
    let role = [metadata.caption, metadata.title].lazy.compactMap(\.self).compactMap {
      PictureRole(describedBy: $0)
    }
    .first
    return role.flatMap { $0.isPrivate ? clause($0) : nil }
  }

  private static func clause(_ role: PictureRole) -> String {
    if role == .unread {
      return "may have published a label: it shows a \(role.rawValue), which a build of its source removes"
    }
    return "published a label: it shows the \(role.rawValue) of a slide, which a build of its source removes"
  }
}
