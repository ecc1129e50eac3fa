import ObjectStore
import TileStorage
import Uploading

/// What a server takes as uploads.
enum UploadOptions {
  static let options = [
    Option("uploads", "yes", help: "with --writable: take uploads: yes or no"),
    Option(
      "upload-folder", "DIR", needs: "writable",
      help: "of s3://…: where uploads are until they are images; this server's own"
    ),
    Option("upload-size", "4096", needs: "writable", help: "MB of one uploaded file"),
    Option(
      "upload-pixels", "2000", needs: "writable",
      help: "megapixels of one uploaded picture, all its pages together"),
    Option(
      "upload-count", "1000", needs: "writable", help: "uploads that may wait to be finished or tiled, in all"
    ),
    Option(
      "upload-types", "all", needs: "writable",
      help: "of jpeg,png,webp,tiff,gif,avif,heif,jxl,jp2,raw; told by content, not by name"
    ),
    Option("upload-expiry", "86400", needs: "writable", help: "seconds that an unfinished upload is kept"),
    Option(
      "upload-memory", "604800", needs: "writable", help: "seconds that a client can ask how its upload ended"
    ),
    Option(
      "keep-sources", needs: "writable",
      help: "keep uploaded files beside their archives, for who may write to download"),
  ]

  /// Where they are received; nil where they cannot be.
  static func folder(_ library: String, _ arguments: Arguments) -> String? {
    arguments.string("upload-folder") ?? (ObjectLibrary.isMeant(by: library) ? nil : library)
  }

  /// Nil where none are taken.
  static func read(_ arguments: Arguments) throws(UsageError) -> UploadLimits? {
    var limits = UploadLimits()
    if let size = try arguments.int("upload-size", in: 1...(1 << 22)) { limits.bytes = size << 20 }
    if let pixels = try arguments.int("upload-pixels", in: 1...1_000_000) {
      limits.pixels = pixels * 1_000_000
    }
    limits.count = try arguments.int("upload-count", in: 1...1_000_000) ?? limits.count
    limits.expiry = try arguments.int("upload-expiry", in: 1...31_536_000) ?? limits.expiry
    limits.memory = try arguments.int("upload-memory", in: 1...31_536_000) ?? limits.memory
    limits.keepsSources = try arguments.flag("keep-sources")
    if let types = arguments.string("upload-types"), types != "all" {
      let kinds = types.split(separator: ",").map { ImageSignature(rawValue: String($0)) }
      guard !kinds.isEmpty, !kinds.contains(nil) else {
        let all = ImageSignature.allCases.map(\.rawValue).joined(separator: ",")
        throw UsageError(
          "\(arguments.spelled("upload-types")) is '\(types)'; it takes all, or some of \(all)")
      }
      limits.kinds = Set(kinds.compactMap { $0 })
    }
    let isWritable = try arguments.flag("writable")
    switch arguments.string("uploads") ?? "yes" {
    case "yes": return isWritable ? limits : nil
    case "no": return nil
    case let other: throw UsageError("\(arguments.spelled("uploads")) is '\(other)'; it takes yes or no")
    }
  }
}
