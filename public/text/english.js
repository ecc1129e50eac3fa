/** A translation is another module with the same names. */
export const text = {
  viewer: 'Zoomable image',
  controls: 'Image controls',
  zoomIn: 'Zoom in',
  zoomOut: 'Zoom out',
  fit: 'Fit, width, original size',
  fullscreen: 'Full screen',
  rotate: 'Turn clockwise',
  flip: 'Mirror',
  previous: 'Previous image',
  next: 'Next image',
  play: 'Play',
  pause: 'Pause',
  filmstrip: 'Thumbnails',
  imageOf: (index, count) => `Image ${number(index)} of ${number(count)}`,
  more: 'More',
  back: 'All images',
  close: 'Close',
  goToImage: 'Go to image number',
  ofCount: (count) => `/ ${number(count)}`,
  page: (title, index, count) => `${title}, image ${number(index)} of ${number(count)}`,
  pageOf: (title, page) => `${title}, page ${number(page)}`,
  bookOf: (title, pages) => `${title}, ${number(pages)} ${pages === 1 ? 'page' : 'pages'}`,
  spoken: (scale, across, down) =>
    `${percent(scale)} percent, ${Math.round(across * 100)} percent across, ${Math.round(down * 100)} percent down`,

  scrollToZoom: (isMac) => `Hold ${isMac ? '⌘' : 'Ctrl'} and scroll to zoom.`,
  twoFingers: 'Two fingers move and zoom the picture.',

  save: 'Save this view',
  thisView: 'This view, as on the screen',
  wholePicture: 'The whole picture',
  thisPart: 'This part, at full resolution',
  originalFile: 'The original file',
  movingPicture: 'The moving picture',
  file: (width, height, ending) => `${number(width)} × ${number(height)} ${ending.toUpperCase()}`,
  downloadBegins: 'The download begins as soon as the file is made.',
  share: 'Share',
  notLoaded: 'This needs a connection to the server.',
  copyLink: 'Copy link',
  cite: 'Cite this view',
  crop: 'Crop and turn',
  details: 'Details',
  keys: 'Keys',
  copied: 'Copied.',
  region: (region) => `region ${region}`,
  title: 'Title',
  caption: 'Caption',
  creator: 'Creator',
  date: 'Date',
  place: 'Place',
  rights: 'Rights',
  keywords: 'Keywords',
  size: 'Size',
  megapixels: 'Megapixels',
  identifier: 'In the library',
  format: 'Format',
  storage: 'Storage',
  resolution: 'Resolution',
  microns: (value) => `${number(value)} µm per pixel`,
  keyList: [
    ['← → ↑ ↓', 'Move; with the whole image in view, previous and next image'], ['+  −', 'Zoom in, zoom out'], ['0  Home', 'Whole image'], ['1', '100 %: one pixel of the image a pixel of the screen'],
    ['R', 'Turn clockwise'], ['M', 'Mirror'], ['F', 'Full screen'], ['T', 'Thumbnails'], ['Page Up  Page Down', 'Previous, next image'],
    ['Space', 'Play, pause'], [',  .', 'Frame back, frame on'],
    ['Esc', 'Leave'], ['?', 'These keys'],
  ],

  handles: ['Top left', 'Top', 'Top right', 'Right', 'Bottom right', 'Bottom', 'Bottom left', 'Left'],
  moveFrame: 'Move the frame',
  ratio: 'Ratio',
  ratios: ['Free', 'As the picture', '1 : 1', '3 : 2', '2 : 3', '4 : 3', '3 : 4', '16 : 9', '9 : 16'],
  turnLeft: 'Turn left',
  turnRight: 'Turn right',
  reset: 'Reset',
  cancel: 'Cancel',
  cropAgain: 'Change',
  download: 'Download',
  done: 'Done',

  search: 'Search',
  searchImages: 'Search images',
  loading: 'Loading…',
  noImages: 'No images yet.',
  toBeBuilt: 'No images yet: pictures become some by “ziggurat build PICTURES --library DIR”.',
  nothingFound: (query) => `Nothing found for “${query}”.`,
  libraryUnreachable: 'The list of images could not be read.',
  tryAgain: 'Try again',
  notThere: 'There is no such image here.',
  unreachable: 'The image could not be read.',
  missingTiles: (count) =>
    count === 1 ? 'One part of the image could not be loaded.' : `${number(count)} parts of the image could not be loaded.`,

  unlock: 'Unlock a private space',
  lock: 'Lock the private space',
  unlockNow: 'Unlock',
  password: 'Password',
  refused: 'Nothing opens with this password.',
  wait: (seconds) => `Too many attempts: ${number(seconds)} s to wait.`,
  sessionEnded: 'The private space was locked.',

  pixels: (width, height) => `${number(width)} × ${number(height)}`,
  scale: (scale) => `${percent(scale)} %`,
  number: (value) => number(value),
  bytes: (value) =>
    value < 1e6 ? `${number(value / 1e3)} kB` : value < 1e9 ? `${number(value / 1e6)} MB` : `${number(value / 1e9)} GB`,
  length: (microns) =>
    microns < 1 ? `${number(microns * 1e3)} nm` : microns < 1e3 ? `${number(microns)} µm`
      : microns < 1e6 ? `${number(microns / 1e3)} mm` : `${number(microns / 1e6)} m`,
}

function number(value) {
  // Intl takes 10 ms to start, before the first view.
  return value < 1000 ? String(Number(value.toPrecision(3))) : String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, ',')
}

function percent(scale) {
  const value = scale * 100
  return value >= 100 ? Math.round(value) : Number(value.toPrecision(2))
}
