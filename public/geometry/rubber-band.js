/** The part of a short pull that is followed. */
const COEFFICIENT = 0.55

/**
 * Returns how far something follows a pull past its end: ever less, and never as far as its room. The formula is the one observed of
 * iOS's scroll views, which Apple does not document: (1 − 1 / (x·c / d + 1))·d with c = 0.55.
 * @param {number} pull the distance pulled past the end, in any unit
 * @param {number} room the displacement that is never reached, in the same unit
 */
export function rubberBand(pull, room) {
  return Math.sign(pull) * (1 - 1 / (Math.abs(pull) * COEFFICIENT / room + 1)) * room
}

/**
 * Returns the pull that leads to a displacement, the inverse of `rubberBand`. More than 0.999 of the room counts as that.
 * @param {number} displacement the distance past the end, in any unit
 * @param {number} room the displacement that is never reached, in the same unit
 */
export function inverseRubberBand(displacement, room) {
  const part = Math.min(Math.abs(displacement) / room, 0.999)
  return Math.sign(displacement) * (1 / (1 - part) - 1) * room / COEFFICIENT
}
