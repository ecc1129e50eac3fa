/**
 * Types of the geometry. The unit of image space is a pixel of the image at full resolution. The unit of viewport space is a
 * CSS pixel of the window as displayed. The origin of both is the top left corner, and y grows downwards. Content space is
 * image space times the scale.
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ width: number, height: number }} Size
 * @typedef {{ x: number, y: number, width: number, height: number }} Rect
 * @typedef {{ level: number, column: number, row: number }} Tile
 * @typedef {{ low: number, high: number }} Extent
 * @typedef {{ minimum: number, maximum: number }} Limits scales, CSS pixels per image pixel
 * @typedef {{ top?: number, left?: number, bottom?: number, right?: number }} Insets distances in CSS pixels from the
 *   window's edges to the area in which the image is shown, 0 if absent; they do not rotate with the image
 * @typedef {{ x: Extent, y: Extent }} PermittedOffsets content offsets, CSS pixels
 * @typedef {'contain' | 'cover' | 'width' | 'none'} Fit
 */
export {}
