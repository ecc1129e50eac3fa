import ZigguratCTurboJPEG

/// A decoder of TurboJPEG. For one thread at a time.
final class JPEGDecompressor {
  let handle: tjhandle

  /// - Parameter subject: the source that an error is about.
  init(_ subject: String) throws(BuildError) {
    guard let handle = tjInitDecompress() else {
      throw BuildError(subject, "no memory for a JPEG decoder", isTemporary: true)
    }
    self.handle = handle
  }

  deinit { tjDestroy(handle) }

  /// The message of the last error or warning.
  var message: String { String(cString: tjGetErrorStr2(handle)) }

  /// Returns the size of a JPEG, its chroma sampling and its colours, the latter two in the numbers of TurboJPEG; `nil`
  /// if its header is damaged.
  func header(
    of data: UnsafeRawBufferPointer
  ) -> (width: Int, height: Int, sampling: Int32, colours: Int32)? {
    var (width, height, sampling, colours) = (Int32(), Int32(), Int32(), Int32())
    let code = tjDecompressHeader3(
      handle, data.assumingMemoryBound(to: UInt8.self).baseAddress, UInt(data.count), &width, &height,
      &sampling, &colours)
    return code == 0 ? (Int(width), Int(height), sampling, colours) : nil
  }
}
