import { button, createElement } from '../viewer/dom.js'

const [READ_TIME, ACTION_TIME] = [4000, 12_000] // ms

const liveRegion = createElement('p', { className: 'spoken', role: 'status' })
document.body.append(liveRegion)

/**
 * Announces a message to users of screen readers.
 * @param {string} text
 */
export function announce(text) { liveRegion.textContent = text }

/**
 * Shows a message for a few seconds, and announces it.
 * @param {string} text
 * @param {string} [label] the label of a button in the message
 * @param {() => void} [action] the action of the button
 */
export function toast(text, label, action) {
  document.querySelector('.toast')?.remove()
  const runAction = () => {
    line.remove()
    action()
  }
  const line = createElement('div', { className: 'toast' }, createElement('span', { textContent: text }),
    ...action ? [button('wide', label, runAction)] : [])
  const dismiss = () => line.matches(':hover, :focus-within') ? setTimeout(dismiss, READ_TIME) : line.remove()
  setTimeout(dismiss, action ? ACTION_TIME : READ_TIME)
  document.body.append(line)
  announce(text)
}
