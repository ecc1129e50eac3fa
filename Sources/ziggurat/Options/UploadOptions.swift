import ObjectStore
import TileStorage
import Uploading

/// Options of uploads to a server.
enum UploadOptions {
  static let options = [
    Option(
      "no-uploads", requires: "writable",
      was: Option.FormerName("uploads", values: ["yes": "false", "no": "true"]),
      help: "Refuse uploads; other changes are accepted"),
    Option(
      "upload-dir", "DIR", requires: "writable", was: "upload-folder",
      help: "Folder of this server for unfinished uploads to a library in an object store"),
    Option(
      "max-upload-size", .megabytes, default: "4GB", requires: "writable", was: "upload-size",
      help: "Maximum size of an uploaded file"),
    Option(
      "max-upload-megapixels", .megapixels, default: "2000MP", requires: "writable", was: "upload-pixels",
      help: "Maximum number of pixels of an uploaded image, all its pages together"),
    Option(
      "max-uploads", "N", default: "1000", requires: "writable", was: "upload-count",
      help: "Maximum number of uploads that are unfinished or wait for a build"),
    Option(
      "upload-types", "TYPE,…", default: "all", requires: "writable",
      help: "Accepted types, detected by content: \(types)"),
    Option(
      "upload-ttl", .seconds, default: "24h", requires: "writable", was: "upload-expiry",
      help: "Lifetime of an unfinished upload"),
    Option(
      "upload-history", .seconds, default: "7d", requires: "writable", was: "upload-memory",
      help: "Lifetime of the status of a finished upload"),
    Option(
      "keep-originals", requires: "writable", was: "keep-sources",
      help: "Keep uploaded files beside their archives; clients that may write can download them"),
  ].grouped(.changes)

  private static var types: String { ImageSignature.allCases.map(\.rawValue).joined(separator: ",") }

  /// Returns the folder that receives uploads; nil if none can be received.
  static func folder(_ library: String, _ arguments: Arguments) -> String? {
    arguments.string("upload-dir") ?? (ObjectLibrary.isMeant(by: library) ? nil : library)
  }

  /// Returns the limits of uploads; nil if uploads are refused.
  static func read(_ arguments: Arguments) throws(UsageError) -> UploadLimits? {
    var limits = UploadLimits()
    limits.bytes = try arguments.quantity("max-upload-size", in: 1 << 20...1 << 42) ?? limits.bytes
    limits.pixels =
      try arguments.quantity("max-upload-megapixels", in: 1_000_000...1_000_000_000_000) ?? limits.pixels
    limits.count = try arguments.int("max-uploads", in: 1...1_000_000) ?? limits.count
    limits.expiry = try arguments.quantity("upload-ttl", in: 1...31_536_000) ?? limits.expiry
    limits.memory = try arguments.quantity("upload-history", in: 1...31_536_000) ?? limits.memory
    limits.keepsSources = try arguments.flag("keep-originals")
    if arguments.string("upload-types") != "all" {
      let kinds = try arguments.value("upload-types", expected: "all, or some of \(types)") { text in
        let kinds = text.split(separator: ",").map { ImageSignature(rawValue: String($0)) }
        return kinds.isEmpty || kinds.contains(nil) ? nil : Set(kinds.compactMap { $0 })
      }
      limits.kinds = kinds ?? limits.kinds
    }
    let refuses = try arguments.flag("no-uploads")
    return try arguments.flag("writable") && !refuses ? limits : nil
  }
}
