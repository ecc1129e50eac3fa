import { button, make } from '../viewer/element.js'

const [READ, REACH] = [4000, 12_000] // ms

const spoken = make('p', { className: 'spoken', role: 'status' })
document.body.append(spoken)

/** Says something to who hears the page. @param {string} words */
export function announce(words) { spoken.textContent = words }

/**
 * Says something for a while, to all.
 * @param {string} words
 * @param {string} [name] what can be done about it
 * @param {() => void} [run] does that
 */
export function toast(words, name, run) {
  document.querySelector('.toast')?.remove()
  const act = () => {
    line.remove()
    run()
  }
  const line = make('div', { className: 'toast' }, make('span', { textContent: words }),
    ...run ? [button('wide', name, act)] : [])
  const leave = () => line.matches(':hover, :focus-within') ? setTimeout(leave, READ) : line.remove()
  setTimeout(leave, run ? REACH : READ)
  document.body.append(line)
  announce(words)
}
