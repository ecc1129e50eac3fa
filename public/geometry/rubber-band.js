/** The slope of the curve at its start. */
const COEFFICIENT = 0.55

/**
 * Returns the displacement for a pull past an end. It grows ever more slowly and never reaches the available room.
 * The formula (1 − 1 / (x·c / d + 1))·d with c = 0.55 is that of iOS scroll views, as observed. Apple does not document it.
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
