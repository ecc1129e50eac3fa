// @ts-check
/** Every text a reader sees. A translation is another module with the same names. */
export const text = {
  viewer: 'Zoomable image',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit to window',
  original: 'Original size',
  fullscreen: 'Full screen',
  rotate: 'Turn clockwise',
  flip: 'Mirror',
  back: 'All images',
  search: 'Search',
  searchImages: 'Search images',
  gallery: 'Images',
  loading: 'Loading…',
  noImages: 'No images yet.',
  nothingFound: (/** @type {string} */ query) => `Nothing found for “${query}”.`,
  notThere: 'There is no such image here.',
  unreachable: 'The image could not be read. Please try again.',
  tryAgain: 'Try again',
  libraryUnreachable: 'The list of images could not be read.',
  missingTiles: (/** @type {number} */ count) =>
    count === 1 ? 'One part of the image could not be loaded.' : `${count} parts of the image could not be loaded.`,
  pixels: (/** @type {number} */ width, /** @type {number} */ height) =>
    `${width.toLocaleString('en')} × ${height.toLocaleString('en')}`,
  scale: (/** @type {number} */ scale) => `${percent(scale)} %`,
}

/** @param {number} scale */
function percent(scale) {
  const value = scale * 100
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(2))
}
