// @ts-check
import { text } from '../text/english.js'
import { icon } from './icons.js'

/**
 * The bar of buttons and the scale readout.
 * @param {(command: string) => void} run
 */
export function makeControls(run) {
  const bar = document.createElement('div')
  bar.className = 'controls'
  bar.part.add('controls')
  bar.setAttribute('role', 'toolbar')
  bar.setAttribute('aria-label', text.viewer)
  const scale = document.createElement('output')
  scale.className = 'scale'
  bar.append(
    button('zoomOut', run), scale, button('zoomIn', run), rule(),
    button('fit', run), button('rotate', run), button('fullscreen', run))
  return {
    bar,
    /** @param {number} value CSS pixels per image pixel */
    showScale(value) {
      const words = text.scale(value)
      if (scale.value !== words) scale.value = words
    },
  }
}

/** @param {'zoomIn' | 'zoomOut' | 'fit' | 'rotate' | 'fullscreen'} name @param {(command: string) => void} run */
function button(name, run) {
  const element = document.createElement('button')
  element.type = 'button'
  element.className = name
  element.title = text[name]
  element.setAttribute('aria-label', text[name])
  element.append(icon(name))
  element.addEventListener('click', () => run(name))
  return element
}

function rule() {
  const element = document.createElement('span')
  element.className = 'rule'
  return element
}
