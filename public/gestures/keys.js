export function keyCommand(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return null
  return COMMANDS[event.key.length === 1 ? event.key.toLowerCase() : event.key] ?? null
}

const COMMANDS = {
  ArrowLeft: 'left', ArrowRight: 'right', ArrowUp: 'up', ArrowDown: 'down',
  '+': 'zoomIn', '=': 'zoomIn', '-': 'zoomOut', _: 'zoomOut', 0: 'whole', Home: 'whole', 1: 'original',
  r: 'rotate', m: 'flip', f: 'fullscreen', Escape: 'leave', PageUp: 'previous', PageDown: 'next', '?': 'help',
  ' ': 'play', ',': 'stepBack', '.': 'step',
}
