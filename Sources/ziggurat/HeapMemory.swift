import CCell

/// What malloc keeps of memory that is not used any more: each thread has a heap of its own, and a heap stays as large
/// as it ever was while anything lies behind what was freed.
enum HeapMemory {
  /// Gives whole pages that nothing uses back to the system (malloc_trim(3)); takes some milliseconds at most.
  static func giveBack() { malloc_trim(0) }
}
