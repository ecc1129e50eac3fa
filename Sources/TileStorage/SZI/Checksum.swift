import ZigguratCDeflate

/// CRC-32 as ZIP has it.
package func checksum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
  libdeflate_crc32(0, bytes.baseAddress, bytes.count)
}
