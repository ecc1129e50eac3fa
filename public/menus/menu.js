import { make } from '../viewer/element.js'

/**
 * A menu at a point, which takes the focus and gives it back; another one that is open closes.
 * @param {ShadowRoot} root
 * @param {{ x: number, y: number }} point CSS pixels of the window
 * @param {{ name: string, run: () => void }[]} items
 * @param {string} label what it is called
 */
export function showMenu(root, point, items, label) {
  root.querySelector('.menu')?.dispatchEvent(new Event('close'))
  const before = root.activeElement ?? root.host
  const outside = new AbortController()
  const close = (back = true) => {
    if (!menu.isConnected) return
    outside.abort()
    menu.remove()
    if (back) before.focus({ preventScroll: true })
  }
  const menu = make('div', { className: 'menu', role: 'menu', ariaLabel: label }, ...items.map(({ name, run }) => {
    const onclick = () => {
      close()
      run()
    }
    return make('button', { type: 'button', tabIndex: -1, role: 'menuitem', textContent: name, onclick })
  }))
  menu.addEventListener('close', () => close())
  menu.onkeydown = (event) => {
    const buttons = [...menu.children]
    const at = buttons.indexOf(event.target)
    const count = buttons.length
    const presses = event.key === 'Enter' || event.key === ' '
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + count, Home: 0, End: count - 1 }[event.key]
    if (to !== undefined) buttons[to % count].focus()
    else if (event.key === 'Escape' || event.key === 'Tab') close()
    else if (!presses) return
    if (!presses) event.preventDefault()
    event.stopPropagation()
  }
  // Not when the focus goes: a finger that lifts after its long press takes it along.
  document.addEventListener('pointerdown', (event) => {
    if (event.composedPath().includes(menu)) return
    event.stopPropagation()
    close(false)
  }, { capture: true, signal: outside.signal })
  root.append(menu)
  const { clientWidth, clientHeight } = menu.offsetParent ?? document.documentElement
  menu.style.left = `${Math.max(8, Math.min(point.x, clientWidth - menu.offsetWidth - 8))}px`
  menu.style.top = `${Math.max(8, Math.min(point.y, clientHeight - menu.offsetHeight - 8))}px`
  menu.firstElementChild?.focus({ preventScroll: true })
}
