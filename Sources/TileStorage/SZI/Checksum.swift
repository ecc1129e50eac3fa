import ZigguratCDeflate

/// Returns the CRC-32 of ZIP files.
package func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
  libdeflate_crc32(0, bytes.baseAddress, bytes.count)
}
