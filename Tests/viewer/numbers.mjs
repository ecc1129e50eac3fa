/** Repeatable random numbers in 0…1 (mulberry32). */
export function random(seed) {
  return () => {
    seed = (seed + 0x6D2B79F5) | 0
    let t = Math.imul(seed ^ (seed >>> 15), 1 | seed)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** Whether two numbers agree to `relative`, or both are as good as nothing. */
export function close(a, b, relative = 1e-9) {
  return a === b || Math.abs(a - b) <= relative * Math.max(Math.abs(a), Math.abs(b), 1e-3)
}
