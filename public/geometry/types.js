/**
 * What geometry speaks of. Image space is pixels at full resolution, viewport space is CSS pixels of the window; both begin at
 * the top left.
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ width: number, height: number }} Size
 * @typedef {{ x: number, y: number, width: number, height: number }} Rect
 * @typedef {{ level: number, column: number, row: number }} Tile
 * @typedef {{ low: number, high: number }} Extent
 * @typedef {{ minimum: number, maximum: number }} Limits scales, CSS pixels per image pixel
 * @typedef {'contain' | 'cover' | 'width' | 'none'} Fit
 */
export {}
