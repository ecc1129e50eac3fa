import Foundation
import Glibc
import Synchronization
import ZigguratFiles

/// The results of uploads, for later requests and after a restart. `.ziggurat-uploads/.ended` has a line of JSON for
/// each. The line is appended before the upload's own files are removed.
final class UploadHistory: Sendable {
  private static let fileName = ".ended"

  private struct Line: Codable {
    let id, name, folder: String
    let length: Int
    /// The final stage; nil if the upload is to be forgotten.
    let stage: Upload.Stage?
    let image: ImageID?
    let duplicate: Bool
    private(set) var reason: String?
    let errorCode: Upload.ErrorCode?
    /// Seconds since 1970.
    let time: Int
    private(set) var metadata: String?

    private enum CodingKeys: String, CodingKey {
      case id, name, folder, length, stage, image, duplicate, reason, time, metadata
      /// The name in files of all versions.
      case errorCode = "fault"
    }

    /// The line, shortened to the stored maximum.
    var bounded: Line {
      var line = self
      line.reason = reason.map { String($0.prefix(UploadHistory.maxReasonLength)) }
      line.metadata = metadata.flatMap(UploadHistory.bounded)
      return line
    }
  }

  /// The maximum size of stored `Upload-Metadata` in bytes: a long name twice, as some clients send it, and a type. Ten
  /// thousand headers of 8 KB would take 80 MB, in memory and in the file.
  static let maxMetadataSize = 1024

  /// Returns the pairs of an `Upload-Metadata` header that are stored, the file's name before others; nil if there are
  /// none.
  private static func bounded(_ metadata: String) -> String? {
    if metadata.utf8.count <= maxMetadataSize { return metadata }
    let pairs = metadata.split(separator: ",").map { $0.drop { $0 == " " } }
    func isName(_ pair: Substring) -> Bool { pair.split(separator: " ").first == "filename" }
    var (kept, count): ([Substring], Int) = ([], -1)
    for pair in pairs.filter(isName) + pairs.filter({ !isName($0) }) {
      guard count + pair.utf8.count + 1 <= maxMetadataSize else { continue }
      kept.append(pair)
      count += pair.utf8.count + 1
    }
    return kept.isEmpty ? nil : kept.joined(separator: ",")
  }
  /// The maximum number of characters of a reason.
  private static let maxReasonLength = 500

  private let path: String
  /// The retention time in seconds.
  private let memory: Int
  private let most: Int
  private let lines = Mutex<[String: Line]>([:])
  /// The number of lines in the file, including outdated ones. Held while the file is written, so no event loop may
  /// wait for it; `lines` is locked only briefly.
  private let file = Mutex(0)

  /// - Parameters:
  ///   - memory: the time in seconds for which an upload is remembered after its end.
  ///   - most: the maximum number of uploads. The oldest are forgotten first.
  init(folder: String, memory: Int, most: Int = 10_000) {
    path = "\(folder)/\(Self.fileName)"
    self.memory = memory
    self.most = most
    let data = FileManager.default.contents(atPath: path) ?? Data()
    let texts = data.split(separator: 0x0a)
    let count = lines.withLock { lines in
      for text in texts {
        // A power failure may have truncated the last line.
        guard let line = try? JSONDecoder().decode(Line.self, from: text), Uploads.isID(line.id) else {
          continue
        }
        lines[line.id] = line.stage == nil ? nil : line.bounded
      }
      return lines.count
    }
    file.withLock { written in
      written = texts.count
      tidy(&written, always: data.last != 0x0a || written != count)
    }
  }

  /// The ids of the failed uploads.
  var failed: [String] { lines.withLock { $0.values.filter { $0.stage == .failed }.map(\.id) } }

  func contains(_ id: String) -> Bool { lines.withLock { $0[id] != nil } }

  /// Returns an upload in its final state; nil if it is not remembered.
  func upload(_ id: String) -> Upload? {
    lines.withLock { $0[id] }.map { line in
      var state = Upload.State()
      state.stage = line.stage ?? .failed
      state.image = line.image
      state.reason = line.reason
      state.errorCode = line.errorCode
      state.isDuplicate = line.duplicate
      state.lastChange = line.time
      state.offset = line.length
      state.received = line.length
      if state.stage == .done { state.progress = 1 }
      return Upload(
        id: id, name: line.name, folder: line.folder, length: line.length, state: state,
        metadata: line.metadata)
    }
  }

  /// - Parameter end: the state that the upload is about to get.
  func remember(_ upload: Upload, _ end: Upload.State) {
    append(
      Line(
        id: upload.id, name: upload.name, folder: upload.folder, length: upload.length, stage: end.stage,
        image: end.image, duplicate: end.isDuplicate, reason: end.reason, errorCode: end.errorCode,
        time: end.lastChange, metadata: upload.metadata
      ).bounded)
  }

  func forget(_ id: String) {
    guard contains(id) else { return }
    append(
      Line(
        id: id, name: "", folder: "", length: 0, stage: nil, image: nil, duplicate: false, reason: nil,
        errorCode: nil, time: Uploads.now(), metadata: nil))
  }

  /// Forgets the uploads that became an image, also in the file.
  func forget(image: ImageID) {
    file.withLock { written in
      let isChanged = lines.withLock { lines in
        let before = lines.count
        lines = lines.filter { $0.value.image != image }
        return lines.count != before
      }
      if isChanged { tidy(&written, always: true) }
    }
  }

  /// Forgets uploads after the retention time. Must be called from time to time.
  func purge() { file.withLock { tidy(&$0, always: false) } }

  /// Appends a line. If that fails, as on a full disk, the server remembers it until it ends.
  private func append(_ line: Line) {
    file.withLock { written in
      lines.withLock { $0[line.id] = line.stage == nil ? nil : line }
      let descriptor = open(path, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0o600)
      guard descriptor >= 0 else { return }
      let bytes = Self.text(line)
      let count = bytes.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
      fdatasync(descriptor)
      close(descriptor)
      written += 1
      tidy(&written, always: count != bytes.count)
    }
  }

  /// Rewrites the file if it has many outdated lines, so that it stays small.
  /// - Parameter written: the number of lines in the file.
  private func tidy(_ written: inout Int, always: Bool) {
    let oldest = Uploads.now() - memory
    let (kept, isFewer) = lines.withLock { lines in
      let before = lines.count
      lines = lines.filter { $0.value.time > oldest }
      if lines.count > most {
        // A tenth at once, so that not every new upload sorts them.
        let sorted = lines.values.sorted { $0.time < $1.time }
        for line in sorted.prefix(sorted.count - most * 9 / 10) { lines[line.id] = nil }
      }
      return (lines, lines.count != before)
    }
    guard always || isFewer || written > 2 * kept.count + 100 else { return }
    let bytes = kept.values.sorted { $0.time < $1.time }.flatMap(Self.text)
    do {
      try UploadFolder.replace(path, bytes)
      written = kept.count
    } catch {}
  }

  private static func text(_ line: Line) -> [UInt8] {
    // Strings and numbers always encode, and JSON contains no line feed.
    Array(try! JSONEncoder().encode(line)) + [0x0a]
  }
}
