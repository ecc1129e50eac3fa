/**
 * Types of the geometry. Image space has a unit per pixel of the image at full resolution, viewport space a unit per CSS pixel of
 * the window as it is seen; both start at the top left, and y grows downwards. Content space is image space times the scale.
 * @typedef {{ x: number, y: number }} Point
 * @typedef {{ width: number, height: number }} Size
 * @typedef {{ x: number, y: number, width: number, height: number }} Rect
 * @typedef {{ level: number, column: number, row: number }} Tile
 * @typedef {{ low: number, high: number }} Extent
 * @typedef {{ minimum: number, maximum: number }} Limits scales, CSS pixels per image pixel
 * @typedef {{ top?: number, left?: number, bottom?: number, right?: number }} Insets distances from the window's edges to the area in
 *   which the image is shown and may come to rest, CSS pixels, 0 if absent; they stay where they are if the picture is rotated
 * @typedef {{ x: Extent, y: Extent }} PermittedOffsets content offsets, CSS pixels
 * @typedef {'contain' | 'cover' | 'width' | 'none'} Fit
 */
export {}
