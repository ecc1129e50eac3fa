import { Recognizer } from './recognizer.js'

export function listen(element, handler, signal, outer = element) {
  const recognizer = new Recognizer(handler)
  let timer = 0

  const place = (event) => {
    const box = element.getBoundingClientRect()
    return { x: event.clientX - box.left - element.clientLeft, y: event.clientY - box.top - element.clientTop }
  }
  const tell = (verb, event) => {
    const kind = event.pointerType === 'touch' || event.pointerType === 'pen' ? event.pointerType : 'mouse'
    recognizer[verb]({ id: event.pointerId, ...place(event), time: event.timeStamp, kind })
    wake()
  }
  const wake = () => {
    clearTimeout(timer)
    const { deadline } = recognizer
    if (deadline === Infinity) return
    timer = setTimeout(() => {
      recognizer.expire(Math.max(performance.now(), deadline))
      wake()
    }, Math.max(deadline - performance.now(), 0))
  }

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    element.setPointerCapture(event.pointerId)
    tell('down', event)
  }, { signal })
  for (const verb of ['move', 'up', 'cancel']) {
    element.addEventListener(`pointer${verb}`, (event) => tell(verb, event), { signal })
  }
  element.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'mouse' && event.buttons === 0) handler.hover?.(place(event))
  }, { signal })
  outer.addEventListener('wheel', (event) => {
    if (event.composedPath().some((part) => part instanceof HTMLDialogElement || part.role === 'menu')) return
    event.preventDefault()
    if (event.deltaY !== 0) handler.wheel(place(event), wheelFactor(event))
  }, { signal, passive: false })
  // With Shift the browser's own menu opens.
  element.addEventListener('contextmenu', (event) => {
    if (event.shiftKey) return
    event.preventDefault()
    if (event.pointerType !== 'touch') handler.menu(place(event))
  }, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}

/** A pinch on a trackpad comes as a wheel with the Control key. */
export function wheelFactor({ deltaY, deltaMode, ctrlKey }) {
  const pixels = deltaY * [1, 18, 400][deltaMode]
  const bounded = Math.max(-300, Math.min(300, pixels))
  return Math.exp(-bounded * (ctrlKey && Math.abs(bounded) < 50 ? 0.01 : 0.002))
}
