// @ts-check
import { Recognizer } from './recognizer.js'
import { wheelFactor } from './wheel.js'

/**
 * Binds an element's pointer and wheel events to a recognizer.
 * @param {HTMLElement} element
 * @param {import('./recognizer.js').GestureHandler & {wheel: (point: {x: number, y: number}, factor: number) => void}} handler
 * @returns {() => void} takes the listeners away again
 */
export function listen(element, handler) {
  const recognizer = new Recognizer(handler)
  const stop = new AbortController()
  const { signal } = stop
  let timer = 0

  /** @param {MouseEvent} event */
  const place = (event) => {
    const box = element.getBoundingClientRect()
    return { x: event.clientX - box.left - element.clientLeft, y: event.clientY - box.top - element.clientTop }
  }
  /** @param {'down' | 'move' | 'up' | 'cancel'} verb @param {PointerEvent} event */
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
  element.addEventListener('pointermove', (event) => tell('move', event), { signal })
  element.addEventListener('pointerup', (event) => tell('up', event), { signal })
  element.addEventListener('pointercancel', (event) => tell('cancel', event), { signal })
  element.addEventListener('wheel', (event) => {
    event.preventDefault()
    if (event.deltaY !== 0) handler.wheel(place(event), wheelFactor(event))
  }, { signal, passive: false })
  // A long press is ours; a right click keeps the browser's menu.
  element.addEventListener('contextmenu', (event) => {
    if (/** @type {PointerEvent} */ (event).pointerType === 'touch') event.preventDefault()
  }, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
  return () => stop.abort()
}
