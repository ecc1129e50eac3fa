import { menusTranslator } from '../i18n/menus.js'
import { button } from '../viewer/element.js'
import { HANDLES } from './frame.js'

const STEP = 8 // CSS px

/**
 * Creates the handles of a crop frame: its corners, its edges, and its middle, which moves the whole frame. They are dragged
 * by pointer or moved by arrow keys.
 * @param {import('./cropper.js').Cropper} cropper the owner of the frame
 * @returns {HTMLElement[]}
 */
export function cropHandles(cropper) {
  const t = menusTranslator(cropper.viewer)
  const all = HANDLES.map((handle, index) => grip(cropper, handle, t('handles')[index]))
  return [...all, grip(cropper, { x: 0, y: 0 }, t('moveFrame'))]
}

function grip(cropper, handle, name) {
  const grip = button('grip', name, null, '')
  let hold = null
  grip.onpointerdown = (event) => {
    event.stopPropagation()
    grip.setPointerCapture(event.pointerId)
    hold = { x: event.clientX, y: event.clientY, frame: cropper.frame }
    cropper.element.classList.add('moving')
  }
  grip.onpointermove = (event) => {
    if (hold) cropper.draw(handle, event.clientX - hold.x, event.clientY - hold.y, hold.frame)
  }
  grip.onlostpointercapture = () => {
    hold = null
    cropper.element.classList.remove('moving')
  }
  grip.onkeydown = (event) => {
    const step = event.shiftKey ? 1 : STEP
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key]
    if (!way) return
    event.preventDefault()
    cropper.draw(handle, way[0] * step, way[1] * step, cropper.frame)
  }
  return grip
}
