const DOWN = 0.35 // CSS px per ms
const FALL = 60 // CSS px

/** Tells when the whole picture is put away, as on phones: by one finger that throws it down. */
export class PutAway {
  /**
   * Fingers are down: the first one, one more, or those that are left.
   * @param {{ x: number, y: number, kind: string }[]} points CSS pixels
   * @param {boolean} isWhole whether all of the picture is seen
   */
  begin(points, isWhole) {
    const isAlone = points.length === 1 && !this.isPinch
    this.isPinch = points.length > 1
    this.first = this.last = isWhole && isAlone && points[0].kind === 'touch' ? points[0] : null
  }

  move([point]) { if (this.first) this.last = point }

  /**
   * All fingers have lifted: whether that puts the picture away.
   * @param {{ x: number, y: number }} velocity CSS pixels per ms
   */
  ends(velocity) {
    const { first, last } = this
    this.first = null
    this.isPinch = false
    if (!first) return false
    const [dx, dy] = [last.x - first.x, last.y - first.y]
    return velocity.y > DOWN && dy > FALL && dy > 2 * Math.abs(dx)
  }
}
