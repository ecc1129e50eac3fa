const YIELD = 0.55

export function rubber(pull, room) {
  return Math.sign(pull) * (1 - 1 / (Math.abs(pull) * YIELD / room + 1)) * room
}

/** The pull that moved content by `stretch`. Inverse of `rubber`. */
export function unrubber(stretch, room) {
  const part = Math.min(Math.abs(stretch) / room, 0.999)
  return Math.sign(stretch) * (1 / (1 - part) - 1) * room / YIELD
}
