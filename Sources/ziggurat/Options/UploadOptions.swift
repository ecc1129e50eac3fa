import TileStorage
import ZigguratObjectStore
import ZigguratUploading

/// Options of uploads to a server.
enum UploadOptions {
  static let options = [
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
      "upload-types", "TYPE,…", default: "all", isList: true, requires: "writable",
      was: Option.FormerName(flag: "no-uploads", value: "none"),
      Option.FormerName("uploads", values: ["yes": "all", "no": "none"]),
      help: "Accepted types, detected by content: \(types), or none"),
    Option(
      "keep-originals", requires: "writable", was: "keep-sources",
      help: "Keep uploaded files beside their archives; clients that may write can download them"),
  ].grouped(.changes)

  private static var types: String { ImageFormat.uploads.map(\.rawValue).joined(separator: ",") }

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
    limits.keepsSources = try arguments.flag("keep-originals")
    limits.kinds =
      try arguments.value("upload-types", expected: "all, none, or some of \(types)") {
        (text) -> Set<ImageFormat>? in
        if text == "all" { return limits.kinds }
        if text == "none" { return [] }
        let kinds = text.split(separator: ",").map { type in
          ImageFormat.uploads.first { $0.rawValue == type }
        }
        return kinds.isEmpty || kinds.contains(nil) ? nil : Set(kinds.compactMap { $0 })
      } ?? limits.kinds
    return try arguments.flag("writable") && !limits.kinds.isEmpty ? limits : nil
  }
}
