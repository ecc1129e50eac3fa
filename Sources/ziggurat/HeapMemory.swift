import ZigguratCCell

/// What malloc keeps of memory that is not used any more: each thread has a heap of its own, and a heap stays as large
/// as it ever was while anything lies behind what was freed.
enum HeapMemory {
  /// For a program that runs for months: few heaps, whose ends go back as they come free, and large pieces outside.
  ///
  /// Left to itself glibc moves both limits up with each large piece that is freed (mallopt(3)), to 64 MB at last,
  /// and keeps that much at the end of each heap, where `giveBack` does not reach. Before the first thread begins.
  static func keepLittle() {
    mallopt(M_ARENA_MAX, 4)
    mallopt(M_MMAP_THRESHOLD, 1 << 20)
    mallopt(M_TRIM_THRESHOLD, 256 << 10)
  }

  /// Gives whole pages that nothing uses back to the system (malloc_trim(3)); takes some milliseconds at most.
  static func giveBack() { malloc_trim(0) }
}
