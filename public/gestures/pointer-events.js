import { Recognizer } from './recognizer.js'
import { WheelClassifier, isPinch, wheelFactor } from './wheel.js'

/**
 * Binds a handler to the gestures on an element. Fingers, mouse and pen are recognized by `Recognizer`. Wheels and trackpads
 * call `wheel(point, factor, isPinch)` and `scroll(move)`. If `ignoresWheel(event)` returns true, the page handles the
 * wheel. Points are in CSS pixels of the element, times in ms.
 * @param {HTMLElement} element
 * @param {object} handler
 * @param {AbortSignal} signal removes the listeners
 * @param {HTMLElement} [outer] the element that receives wheel events
 */
export function bindPointerEvents(element, handler, signal, outer = element) {
  const recognizer = new Recognizer(handler)
  let timer = 0

  const pointOf = (event) => {
    const box = element.getBoundingClientRect()
    return { x: event.clientX - box.left - element.clientLeft, y: event.clientY - box.top - element.clientTop }
  }
  const recognize = (method, event) => {
    const kind = event.pointerType === 'touch' || event.pointerType === 'pen' ? event.pointerType : 'mouse'
    recognizer[method]({ id: event.pointerId, ...pointOf(event), time: event.timeStamp, kind })
    scheduleExpiry()
  }
  const scheduleExpiry = () => {
    clearTimeout(timer)
    const { deadline } = recognizer
    if (deadline === Infinity) return
    timer = setTimeout(() => {
      recognizer.expire(Math.max(performance.now(), deadline))
      scheduleExpiry()
    }, Math.max(deadline - performance.now(), 0))
  }

  element.addEventListener('pointerdown', (event) => {
    if (event.button !== 0) return
    element.setPointerCapture(event.pointerId)
    recognize('down', event)
  }, { signal })
  for (const method of ['move', 'up', 'cancel']) {
    element.addEventListener(`pointer${method}`, (event) => recognize(method, event), { signal })
  }
  element.addEventListener('pointermove', (event) => {
    if (event.pointerType === 'mouse' && event.buttons === 0) handler.hover?.(pointOf(event))
  }, { signal })
  const wheel = new WheelClassifier()
  outer.addEventListener('wheel', (event) => {
    if (event.composedPath().some((part) => part instanceof HTMLDialogElement || part.role === 'menu' || part.role === 'listbox')) return
    const action = wheel.read(event, event.timeStamp, devicePixelRatio)
    if (handler.ignoresWheel?.(event)) return
    event.preventDefault()
    if (action === 'move') handler.scroll({ x: event.deltaX, y: event.deltaY, time: event.timeStamp })
    else if (event.deltaY !== 0) handler.wheel(pointOf(event), wheelFactor(event), isPinch(event))
  }, { signal, passive: false })
  // Safari's pinches on a trackpad. Those of fingers on a screen are pointer events.
  let lastScale = 1
  for (const type of ['gesturestart', 'gesturechange']) {
    outer.addEventListener(type, (event) => {
      event.preventDefault()
      const isPinched = type === 'gesturechange' && recognizer.contacts.size === 0
      if (isPinched) handler.wheel(pointOf(event), event.scale / lastScale, true)
      lastScale = event.scale
    }, { signal, passive: false })
  }
  // Where one finger scrolls the page, two must not.
  for (const type of ['touchstart', 'touchmove']) {
    element.addEventListener(type, (event) => {
      if (event.touches.length > 1 && event.cancelable) event.preventDefault()
    }, { signal, passive: false })
  }
  // With Shift, the browser's own menu opens.
  element.addEventListener('contextmenu', (event) => {
    if (event.shiftKey) return
    event.preventDefault()
    if (event.pointerType !== 'touch') handler.menu(pointOf(event))
  }, { signal })
  signal.addEventListener('abort', () => clearTimeout(timer))
}
