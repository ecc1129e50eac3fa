import { menusTranslator } from '../i18n/menus.js'
import { button } from '../viewer/dom.js'
import { HANDLES } from './crop-rect.js'

const STEP = 8 // CSS px

/**
 * Creates the handles of a crop frame: its corners, its edges, and its middle, which moves the whole frame. They are dragged
 * by pointer or moved by arrow keys.
 * @param {import('./cropper.js').Cropper} cropper the owner of the frame
 * @returns {HTMLElement[]}
 */
export function cropHandles(cropper) {
  const t = menusTranslator(cropper.viewer)
  const all = HANDLES.map((handle, index) => createHandle(cropper, handle, t('handles')[index]))
  return [...all, createHandle(cropper, { x: 0, y: 0 }, t('moveFrame'))]
}

function createHandle(cropper, handle, name) {
  const element = button('grip', name, null, '')
  let start = null
  element.onpointerdown = (event) => {
    event.stopPropagation()
    element.setPointerCapture(event.pointerId)
    start = { x: event.clientX, y: event.clientY, frame: cropper.frame }
    cropper.element.classList.add('moving')
  }
  element.onpointermove = (event) => {
    if (start) cropper.dragHandle(handle, event.clientX - start.x, event.clientY - start.y, start.frame)
  }
  element.onlostpointercapture = () => {
    start = null
    cropper.element.classList.remove('moving')
  }
  element.onkeydown = (event) => {
    const step = event.shiftKey ? 1 : STEP
    const direction = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
    if (!direction) return
    event.preventDefault()
    cropper.dragHandle(handle, direction[0] * step, direction[1] * step, cropper.frame)
  }
  return element
}
