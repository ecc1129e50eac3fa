export function showMenu(root, point, items, label) {
  root.querySelector('.menu')?.dispatchEvent(new Event('close'))
  const before = root.activeElement ?? root.host
  const menu = document.createElement('div')
  menu.className = 'menu'
  menu.setAttribute('role', 'menu')
  menu.setAttribute('aria-label', label)
  let isOpen = true
  const outside = new AbortController()
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
    const buttons = [...menu.children]
    const at = buttons.indexOf(event.target)
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
  const { clientWidth, clientHeight } = menu.offsetParent ?? document.documentElement
  menu.style.left = `${Math.max(8, Math.min(point.x, clientWidth - menu.offsetWidth - 8))}px`
  menu.style.top = `${Math.max(8, Math.min(point.y, clientHeight - menu.offsetHeight - 8))}px`
  menu.firstElementChild?.focus({ preventScroll: true })
}
