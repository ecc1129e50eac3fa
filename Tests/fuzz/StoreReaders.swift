import TileStorage
import ZigguratFiles

@testable import ZigguratObjectStore

extension FuzzInput {
  /// Reads a store's response: a page of a list, the headers, the end of an upload.
  func readListAnswer() {
    _ = (S3Response.upload(bytes), S3Response.isWhole(bytes))
    if let page = S3Response.list(bytes)?.page {
      for version in page.versions {
        precondition(version.byteCount >= 0 && !version.etag.isEmpty, "an object has a size and a tag")
        _ = (
          IndexSegment.isName(version.key), ListedRecord.isName(version.key),
          ObjectAddress.isReadable(version.key)
        )
      }
      precondition(page.lastKey != nil || page.versions.isEmpty, "a page that has objects has a last one")
      StrayObjects { precondition(!$0.utf8.contains(0x0a), "a report is one line") }
        .note(page.strayKeys + page.versions.map { Array($0.key.utf8) }, in: ObjectAddress("s3://abc/d")!)
    }
    var head = ResponseHead()
    for line in bytes.split(separator: 0x0a) { _ = line.withUnsafeBytes { head.take($0) } }
    precondition(head.etag.map { ResponseHead.isTag($0) } ?? true, "a tag fits into a header")
    let version = ObjectVersion(key: "a", etag: "\"e\"", byteCount: 100)
    for question in [RangeRequest.part(version, 3..<9), .end(key: "a", atMost: 50)] {
      if case .success(let (found, count)) = question.expected(head) {
        precondition((1...found.byteCount).contains(count), "an answer is a part of its object")
      }
    }
  }

  /// Reads a segment of a library's index, each of its lines alone, and the marks of the garbage collector.
  func readDirectory() {
    if let marks = GarbageCollector.marks(bytes) {
      let again = GarbageCollector.marks(GarbageCollector.text(marks))
      precondition(again == marks, "marks are written as they are read")
    }
    for line in bytes.split(separator: IndexEntry.end, omittingEmptySubsequences: false) {
      guard let read = line.withUnsafeBytes({ IndexEntry($0, of: .nothing, at: 0) }) else { continue }
      guard case .image(let id, let record) = read else { continue }
      let text = IndexEntry.text(
        image: id, record, build: Array(line)[record.build], metadata: Array(line)[record.metadata])
      precondition(IndexEntry.isReadable(text), "what was read can be written")
    }
    guard let file = try? TemporaryFile(), bytes.withUnsafeBytes({ (try? file.write($0)) != nil }) else {
      return
    }
    let version = ObjectVersion(key: "directory/1700000000000-1", etag: "\"e\"", byteCount: bytes.count)
    guard let segment = try? IndexSegment(version, SegmentText(file, count: bytes.count)) else { return }
    var contents = LibraryIndex.Contents()
    contents.apply(segment.lines)
    for record in contents.records.values {
      precondition(record.isSame(as: record), "a record is itself")
      precondition(record.entry(BuildRecord.entryName) != nil, "a record's text is there")
    }
  }
}
