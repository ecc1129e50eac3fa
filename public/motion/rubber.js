/** How much of a pull past a limit is given way to at first; the rest of the way it gives less and less. */
const YIELD = 0.55

/** How far content follows a pull of `pull` past its limit: never further than `room`. */
export function rubber(pull, room) {
  return Math.sign(pull) * (1 - 1 / (Math.abs(pull) * YIELD / room + 1)) * room
}

/** The pull that moved content by `stretch`. Inverse of `rubber`. */
export function unrubber(stretch, room) {
  const part = Math.min(Math.abs(stretch) / room, 0.999)
  return Math.sign(stretch) * (1 / (1 - part) - 1) * room / YIELD
}
