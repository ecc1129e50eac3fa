import { createElement } from '../viewer/dom.js'

/**
 * Shows a menu, and closes any other one. The menu takes the focus and returns it when it closes. It does not cover its
 * opener: a second tap there closes the menu instead of choosing an item.
 * @param {ShadowRoot} root
 * @param {{ x: number, y: number, opener?: HTMLElement }} point the top left corner of the menu, CSS pixels of the window; with
 *   an opener, the top left corner of that button
 * @param {{ name: string, run: () => void }[]} items
 * @param {string} label its accessible name
 */
export function showMenu(root, point, items, label) {
  const { opener } = point
  root.querySelector('.menu')?.dispatchEvent(new Event('close'))
  const before = root.activeElement ?? root.host
  const outside = new AbortController()
  const close = (back = true) => {
    if (!menu.isConnected) return
    outside.abort()
    menu.remove()
    if (back) before.focus({ preventScroll: true })
  }
  const menu = createElement('div', { className: 'menu', role: 'menu', ariaLabel: label }, ...items.map(({ name, run }) => {
    const onclick = () => {
      close()
      run()
    }
    return createElement('button', { type: 'button', tabIndex: -1, role: 'menuitem', textContent: name, onclick })
  }))
  menu.addEventListener('close', () => close())
  menu.onkeydown = (event) => {
    const buttons = [...menu.children]
    const at = buttons.indexOf(event.target)
    const count = buttons.length
    const isPress = event.key === 'Enter' || event.key === ' '
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + count, Home: 0, End: count - 1 }[event.key]
    if (to !== undefined) buttons[to % count].focus()
    else if (event.key === 'Escape' || event.key === 'Tab') close()
    else if (!isPress) return
    if (!isPress) event.preventDefault()
    event.stopPropagation()
  }
  // Not on loss of focus: a finger that lifts after a long press moves the focus.
  document.addEventListener('pointerdown', (event) => {
    if (event.composedPath().includes(menu)) return
    event.stopPropagation()
    close(false)
    if (!opener || !event.composedPath().includes(opener)) return
    // The click of this press would open the menu again. A press that ends elsewhere is not followed by a click.
    const press = new AbortController()
    const { signal } = press
    addEventListener('click', (click) => {
      if (click.composedPath().includes(opener)) click.stopPropagation()
      press.abort()
    }, { capture: true, signal })
    for (const end of ['pointerdown', 'pointercancel', 'keydown']) {
      addEventListener(end, () => press.abort(), { capture: true, signal })
    }
  }, { capture: true, signal: outside.signal })
  root.append(menu)
  const { clientWidth, clientHeight } = menu.offsetParent ?? document.documentElement
  const { offsetWidth: width, offsetHeight: height } = menu
  const above = point.y - height - 8
  const below = point.y + (opener?.offsetHeight ?? 0) + 8
  const [left, top] = !opener ? [point.x, point.y]
    : above >= 8 ? [point.x, above] : below + height + 8 <= clientHeight ? [point.x, below] : [point.x - width - 8, point.y]
  menu.style.left = `${Math.max(8, Math.min(left, clientWidth - width - 8))}px`
  menu.style.top = `${Math.max(8, Math.min(top, clientHeight - height - 8))}px`
  menu.firstElementChild?.focus({ preventScroll: true })
}
