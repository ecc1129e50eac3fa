const STROKES = {
  zoomIn: 'M12 5v14M5 12h14',
  zoomOut: 'M5 12h14',
  fit: 'M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5',
  fullscreen: 'M14 10l6-6M15 4h5v5M10 14l-6 6M9 20H4v-5',
  rotate: 'M20 5v5h-5M19.4 13a7.5 7.5 0 1 1-1.6-6.4L20 10',
  pageLeft: 'M14.5 5.5L8 12l6.5 6.5',
  pageRight: 'M9.5 5.5L16 12l-6.5 6.5',
  play: 'M8 5.5v13l10.5-6.5z',
  pause: 'M8.5 5.5v13M15.5 5.5v13',
  filmstrip: 'M8.5 6.5h7v11h-7zM2.5 8.5h2.5v7H2.5M21.5 8.5H19v7h2.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
}

const SVG = 'http://www.w3.org/2000/svg'

/**
 * Returns an icon, in strokes of the current color.
 * @param {string} name
 * @returns {SVGElement}
 */
export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.ariaHidden = true
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', STROKES[name])
  svg.append(path)
  return svg
}
