package import ZigguratFiles

/// Returns the error that `body` throws, or nil if it throws none.
package func storageError(_ body: () throws -> Void) -> StorageError? {
  do {
    try body()
    return nil
  } catch { return error as? StorageError }
}
