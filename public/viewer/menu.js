// @ts-check
/**
 * A menu at a point, for keys and fingers alike; it closes when something is chosen or it loses its place.
 * @param {ShadowRoot} root where it is put
 * @param {{x: number, y: number}} point in the box of `root`'s host, CSS pixels
 * @param {{name: string, run: () => void}[]} items
 * @param {string} label
 */
export function showMenu(root, point, items, label) {
  root.querySelector('.menu')?.dispatchEvent(new Event('close'))
  const before = /** @type {HTMLElement} */ (root.activeElement ?? root.host)
  const menu = document.createElement('div')
  menu.className = 'menu'
  menu.setAttribute('role', 'menu')
  menu.setAttribute('aria-label', label)
  let isOpen = true
  const outside = new AbortController()
  /** @param {boolean} [back] the focus goes back to where it was */
  const close = (back = true) => {
    if (!isOpen) return
    isOpen = false
    outside.abort()
    menu.remove()
    if (back) before.focus({ preventScroll: true })
  }
  for (const { name, run } of items) {
    const item = document.createElement('button')
    item.type = 'button'
    item.tabIndex = -1
    item.setAttribute('role', 'menuitem')
    item.textContent = name
    item.addEventListener('click', () => {
      close()
      run()
    })
    menu.append(item)
  }
  menu.addEventListener('close', () => close())
  menu.addEventListener('keydown', (event) => {
    const buttons = /** @type {HTMLElement[]} */ ([...menu.children])
    const at = buttons.indexOf(/** @type {HTMLElement} */ (event.target))
    const count = buttons.length
    const to = { ArrowDown: at + 1, ArrowUp: at - 1 + count, Home: 0, End: count - 1 }[event.key]
    if (to !== undefined) buttons[to % count].focus()
    else if (event.key === 'Escape' || event.key === 'Tab') close()
    else if (event.key !== 'Enter' && event.key !== ' ') return
    if (event.key !== 'Enter' && event.key !== ' ') event.preventDefault()
    event.stopPropagation()
  })
  // Not when the focus goes: a finger that lifts after its long press takes it along.
  document.addEventListener('pointerdown', (event) => {
    if (!event.composedPath().includes(menu)) close(false)
  }, { capture: true, signal: outside.signal })
  root.append(menu)
  const { clientWidth, clientHeight } = /** @type {HTMLElement} */ (menu.offsetParent ?? document.documentElement)
  menu.style.left = `${Math.max(8, Math.min(point.x, clientWidth - menu.offsetWidth - 8))}px`
  menu.style.top = `${Math.max(8, Math.min(point.y, clientHeight - menu.offsetHeight - 8))}px`
  ;/** @type {HTMLElement} */ (menu.firstElementChild)?.focus({ preventScroll: true })
}
