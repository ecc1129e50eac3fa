import { button, createElement } from '../viewer/element.js'

const [READ, REACH] = [4000, 12_000] // ms

const spoken = createElement('p', { className: 'spoken', role: 'status' })
document.body.append(spoken)

/**
 * Announces a message to users of screen readers.
 * @param {string} words
 */
export function announce(words) { spoken.textContent = words }

/**
 * Shows a message for a few seconds, and announces it.
 * @param {string} words
 * @param {string} [name] the label of a button in the message
 * @param {() => void} [run] the action of the button
 */
export function toast(words, name, run) {
  document.querySelector('.toast')?.remove()
  const act = () => {
    line.remove()
    run()
  }
  const line = createElement('div', { className: 'toast' }, createElement('span', { textContent: words }),
    ...run ? [button('wide', name, act)] : [])
  const leave = () => line.matches(':hover, :focus-within') ? setTimeout(leave, READ) : line.remove()
  setTimeout(leave, run ? REACH : READ)
  document.body.append(line)
  announce(words)
}
