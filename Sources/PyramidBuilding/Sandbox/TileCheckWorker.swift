import TileGeometry
import TileStorage
import ZigguratImaging
package import ZigguratSandbox

/// A sandboxed process that decodes the tiles of one archive, to find defects.
package enum TileCheckWorker {
  package static let kind = ProcessLauncher.Kind(rawValue: 5)

  private static let check: UInt32 = 1
  /// Maximum bytes of the reply about a tile.
  private static let maxAnswerSize = 1 << 16
  /// The timeout of one tile in seconds.
  private static let seconds = 60

  /// The main function of such a process.
  package static let work: WorkerMain = { session in
    while true {
      let message = session.next(timeout: WorkerPool.idleSeconds)
      session.send(check, answer(message.bytes))
    }
  }

  /// Returns the sandboxed processes for the tiles of one archive.
  static func pool(_ pyramid: Pyramid, _ format: TileFormat) -> WorkerPool {
    let side = min(pyramid.tileSize + 2 * pyramid.overlap, 1 << 14)
    let memory = 96 << 20 + 2 * format.bytesPerDecodedPixel * side * side
    return WorkerPool(
      kind, SandboxLimits(memory: memory, maxMemory: memory, processorSeconds: 3600), maxUses: 10_000)
  }

  /// Returns the defect of a tile, as a clause without a subject; nil if it has none.
  ///
  /// - Parameters:
  ///   - size: the size that the tile's address requires.
  ///   - pool: sandboxed processes that have seen no other archive's tiles. In a program without sandboxed processes,
  ///     which only uses the library, the process itself decodes.
  static func defect(
    ofTile bytes: UnsafeRawBufferPointer, _ format: TileFormat, _ size: PixelRect, _ pool: WorkerPool
  ) -> String? {
    guard let server = ProcessLauncher.running else {
      return defect(ofTile: bytes, format, size.width, size.height)
    }
    let numbers = [TileFormat.allCases.firstIndex(of: format)!, size.width, size.height]
    do throws(TerminationReason) {
      let question = numbers.withUnsafeBytes { Array($0) } + bytes
      let message = try pool.ask(server, check, question, longest: maxAnswerSize, seconds: seconds)
      return message.bytes.isEmpty ? nil : String(decoding: message.bytes, as: UTF8.self).sanitizedLine
    } catch {
      return error.isTemporary ? "could not be checked: \(error)" : "does not decode: \(error)"
    }
  }

  private static func answer(_ question: [UInt8]) -> [UInt8] {
    let head = 24
    guard question.count >= head else { return Array("is no question".utf8) }
    return question.withUnsafeBytes { bytes in
      func number(_ at: Int) -> Int { bytes.loadUnaligned(fromByteOffset: 8 * at, as: Int.self) }
      let tile = UnsafeRawBufferPointer(rebasing: bytes[head...])
      return Array((defect(ofTile: tile, TileFormat.allCases[number(0)], number(1), number(2)) ?? "").utf8)
    }
  }

  private static func defect(
    ofTile bytes: UnsafeRawBufferPointer, _ format: TileFormat, _ width: Int, _ height: Int
  ) -> String? {
    do throws(TileError) {
      let image = try Image.tile(bytes, format, width: width, height: height)
      do throws(ImagingError) { try image.decodeAll() } catch { throw .damaged(error) }
    } catch {
      switch error {
      case .misfit(let clause): return clause
      case .damaged(let error): return "does not decode: \(error.message)"
      }
    }
    return nil
  }
}
