/**
 * Runs attempts of which only one is in progress. A request during an attempt is not lost: another attempt follows if the first
 * one ended without a decision, as it does if the server cannot be reached.
 * @param {() => Promise<boolean>} attempt resolves to whether the server decided
 * @param {(isRunning: boolean) => void} show is called before the first attempt and after the last one
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
