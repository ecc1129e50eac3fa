/**
 * Runs attempts one at a time. A request during an attempt is not lost. Another attempt follows if the first one ended
 * without a decision, for example because the server was unreachable.
 * @param {() => Promise<boolean>} attempt resolves to whether the server decided
 * @param {(isRunning: boolean) => void} show called before the first attempt and after the last one
 * @returns {() => Promise<void>} requests an attempt
 */
export function oneAtATime(attempt, show) {
  let [isRunning, isRequested] = [false, false]
  return async () => {
    isRequested = true
    if (isRunning) return
    isRunning = true
    show(true)
    try {
      let isDecided = false
      while (isRequested && !isDecided) {
        isRequested = false
        isDecided = await attempt()
      }
    } finally {
      isRunning = false
      show(false)
    }
  }
}
