const STROKES = {
  zoomIn: 'M12 5v14M5 12h14',
  zoomOut: 'M5 12h14',
  fit: 'M9 4H4v5M15 4h5v5M9 20H4v-5M15 20h5v-5',
  fullscreen: 'M14 10l6-6M15 4h5v5M10 14l-6 6M9 20H4v-5',
  rotate: 'M20 5v5h-5M19.4 13a7.5 7.5 0 1 1-1.6-6.4L20 10',
  play: 'M8 5.5v13l10.5-6.5z',
  pause: 'M8.5 5.5v13M15.5 5.5v13',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  back: 'M14.5 5.5L8 12l6.5 6.5',
  add: 'M12 5v14M5 12h14',
  select: 'M8.5 12.2l2.6 2.6 4.6-5M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17z',
  check: 'M6.5 12.5l3.8 3.8 7.2-8',
  leave: 'M6 6l12 12M18 6L6 18',
  edit: 'M5 19l1-4L16 5l3 3L9 18zM13.5 7.5l3 3',
  moveIn: 'M8 11V8a4 4 0 0 1 8 0v3M5.5 11h13v9h-13z',
  moveOut: 'M8 11V8a4 4 0 0 1 7.7-1.5M5.5 11h13v9h-13z',
  delete: 'M5 7h14M9.5 7V5h5v2M7 7l.8 12.5h8.4L17 7M10.3 10.5v5.5M13.7 10.5v5.5',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4.5 4.5',
}

const SVG = 'http://www.w3.org/2000/svg'

export function icon(name) {
  const svg = document.createElementNS(SVG, 'svg')
  svg.setAttribute('viewBox', '0 0 24 24')
  svg.setAttribute('aria-hidden', 'true')
  const path = document.createElementNS(SVG, 'path')
  path.setAttribute('d', STROKES[name])
  svg.append(path)
  return svg
}
