import Foundation
import PyramidBuilding
import Synchronization
import ZigguratConcurrency

/// The progress of a build on one line at the bottom of a terminal; nothing if stderr is not a terminal.
final class ProgressLine: Sendable {
  private struct State {
    /// The number of finished sources, and of all.
    var done = 0
    var total: Int
    /// The number of finished images, pages included.
    var images = 0
    var pixels = 0
    var isShown = false
    var isOver = false
  }

  private let state: Mutex<State>
  private let started = Date()

  /// Creates the line; nil if stderr is not a terminal.
  init?(total: Int) {
    guard isatty(STDERR_FILENO) == 1 else { return nil }
    state = Mutex(State(total: total))
  }

  /// Redraws the line four times a second until `end`.
  /// - Parameter current: returns the progress of the current pictures.
  func start(current: @escaping @Sendable () -> [PictureProgress]) {
    // If no thread can be started, no line is drawn.
    _ = StartedThread.detached {
      while true {
        usleep(250_000)
        let current = current()
        let isOver = self.state.withLock { state in
          if !state.isOver { self.draw(&state, current) }
          return state.isOver
        }
        if isOver { return }
      }
    }
  }

  /// Sets the number of finished sources, and counts one more image, with or without a line of its own.
  func count(sources: Int) {
    state.withLock { state in
      state.done = sources
      state.images += 1
    }
  }

  /// Writes an image's line above the progress line.
  func add(pixels: Int, line: String) {
    state.withLock { state in
      state.pixels += pixels
      clear(&state)
      Output.note(line)
    }
  }

  /// Writes other output above the progress line.
  func above(_ write: () -> Void) {
    state.withLock { state in
      clear(&state)
      write()
    }
  }

  func end() {
    state.withLock { state in
      clear(&state)
      state.isOver = true
    }
  }

  private func clear(_ state: inout State) {
    if state.isShown { Output.terminal("\r\u{1b}[K") }
    state.isShown = false
  }

  private func draw(_ state: inout State, _ current: [PictureProgress]) {
    let seconds = max(Date().timeIntervalSince(started), 0.001)
    // Half-finished images count half; otherwise a single large one would show no remaining time.
    let done = Double(state.done) + current.reduce(0) { $0 + $1.done }
    let pixels = Double(state.pixels) + current.reduce(0) { $0 + $1.pixels }
    var text = "[\(state.done)/\(state.total)]"
    if state.images > 0 { text += String(format: " %.1f images/s,", Double(state.images) / seconds) }
    text += String(format: " %.0f megapixels/s", pixels / 1e6 / seconds)
    if done > 0.02 {
      let left = Int(seconds / done * (Double(state.total) - done))
      text += String(format: ", %d:%02d left", left / 60, left % 60)
    }
    for picture in current.prefix(2) {
      text += "  \(picture.source.split(separator: "/").last ?? "") \(Int(picture.done * 100))%"
    }
    Output.terminal("\r\u{1b}[K" + Output.oneLine(String(text.prefix(columns))))
    state.isShown = true
  }

  private var columns: Int {
    var size = winsize()
    guard ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 79 }
    return Int(size.ws_col) - 1
  }
}
