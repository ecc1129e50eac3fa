// The keyboard shortcuts of the viewer.
const SHORTCUTS = {
  '+': 'zoomIn', '=': 'zoomIn', '-': 'zoomOut', _: 'zoomOut', 0: 'whole', Home: 'whole', 1: 'original',
  r: 'rotate', m: 'flip', f: 'fullscreen', Escape: 'close', '?': 'help', t: 'filmstrip',
  ' ': 'play', ',': 'stepBack', '.': 'step',
}

/**
 * Returns the command of a key, or the name of the key if it has none. Returns null if Ctrl, Alt or the command key is
 * pressed.
 * @param {KeyboardEvent} event
 */
export function keyCommand(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  return SHORTCUTS[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? event.key
}
