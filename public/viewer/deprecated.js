// The names of version 0.1. They work until version 2.0; each is reported once on the console.

const EVENTS = { chrome: 'ui-toggle', settle: 'idle', sharp: 'fully-loaded', leave: 'close' }
/** Old attributes, each with the attribute and value that replace it. */
const ATTRIBUTES = { quiet: ['ui', 'hidden'], cooperative: ['gesture-handling', 'cooperative'] }
const reported = new Set()

/** The attributes that `renewAttribute` must observe. */
export const OLD_ATTRIBUTES = [...Object.keys(ATTRIBUTES), 'tap', 'ui']

/**
 * Returns the current name of an event.
 * @param {string} type
 */
export function currentEvent(type) {
  if (!Object.hasOwn(EVENTS, type)) return type
  report(`event '${type}'`, `'${EVENTS[type]}'`)
  return EVENTS[type]
}

/**
 * Sets the attribute that replaces an old one.
 * @param {Element} element
 * @param {string} name the attribute that has changed
 * @param {string | null} value
 */
export function renewAttribute(element, name, value) {
  // Pages may still read the attribute `quiet`.
  if (name === 'ui') element.toggleAttribute('quiet', value === 'hidden')
  if (name === 'tap' && value === 'leave') {
    report('tap="leave"', 'tap="close"')
    element.setAttribute('tap', 'close')
  }
  if (!Object.hasOwn(ATTRIBUTES, name)) return
  const [current, on] = ATTRIBUTES[name]
  const isOn = value !== null
  if (isOn === (element.getAttribute(current) === on)) return
  report(`attribute '${name}'`, `${current}="${on}"`)
  if (isOn) element.setAttribute(current, on)
  else element.removeAttribute(current)
}

function report(old, current) {
  if (reported.has(old)) return
  reported.add(old)
  console.warn(`ziggurat-viewer: ${old} is deprecated and will be removed in version 2.0; use ${current}`)
}
