import { menusTranslator } from '../i18n/menus.js'
import { localeOf } from '../i18n/translator.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { fileAddress } from '../menus/download.js'
import { copy } from '../menus/share.js'
import { button, createElement } from '../viewer/dom.js'

const FORMATS = ['jpg', 'png', 'webp']
/** Aspect ratios, width and height, in the order of the menu. */
const RATIOS = [[1, 1], [3, 2], [2, 3], [4, 3], [3, 4], [16, 9], [9, 16]]

/**
 * The toolbar below the image during a crop: first the controls of the frame, then the actions for the result. Straightening
 * is in steps of tenths of a degree.
 */
export class CropBar {
  /** @param {import('./cropper.js').Cropper} cropper */
  constructor(cropper) {
    this.cropper = cropper
    const { viewer, source: { title, pyramid } } = cropper
    const { width, height } = pyramid.imageSize
    const t = this.t = menusTranslator(viewer)
    const ratios = [null, width / height, ...RATIOS.map(([across, down]) => across / down)]
    const names = [t('anyRatio'), t('ownRatio'), ...RATIOS.map(([across, down]) => `${across} : ${down}`)]
    this.size = createElement('output', { className: 'size' })
    this.link = createElement('a', {
      className: 'wide main', textContent: t('download'), onclick: () => viewer.showMessage(t('downloadBegins')),
    })
    this.ratio = createSelect(t('ratio'), names, (index) => {
      // The image's own ratio depends on its rotation.
      const isRotated = index === 1 && cropper.viewport.rotation.degrees % 180 !== 0
      cropper.setAspectRatio(isRotated ? 1 / ratios[1] : ratios[index])
    })
    this.degrees = createElement('output', { className: 'degrees' })
    this.slider = createElement('input', {
      type: 'range', min: '-45', max: '45', step: '0.1', value: '0', ariaLabel: t('straighten'),
      oninput: () => cropper.straighten(this.slider.valueAsNumber),
      // A double click resets it, as in other photo editors.
      ondblclick: () => cropper.straighten(this.slider.valueAsNumber = 0),
    })
    this.degreeFormat = new Intl.NumberFormat(localeOf(viewer), { minimumFractionDigits: 1, maximumFractionDigits: 1 })
    const name = (extension) => `${title || viewerTranslator(viewer)('viewer')}.${extension}`
    const row = (...children) => createElement('div', { className: 'row' }, ...children)
    this.editRows = createElement('div', { className: 'rows' },
      row(this.ratio, button('', t('turnLeft'), () => viewer.rotate(-90), '↺'),
        button('', t('turnRight'), () => viewer.rotate(90), '↻'), button('wide', t('reset'), () => cropper.reset())),
      ...cropper.canStraighten ? [row(this.slider, this.degrees)] : [],
      row(button('wide', t('cancel'), () => cropper.cancel()), this.size,
        button('wide main', t('done'), () => cropper.finish())))
    this.resultSize = createElement('output', { className: 'size' })
    this.resultRows = createElement('div', { className: 'rows', hidden: true },
      row(this.resultSize, createSelect(t('format'), ['JPEG', 'PNG', 'WebP'], (index) => {
        cropper.format = FORMATS[index]
        this.show()
      }), this.link),
      row(button('wide', t('cropAgain'), () => cropper.edit()),
        button('wide', t('copyLink'), () => copy(viewer, t('copyLink'), cropper.address, t('linkCopied'))),
        ...viewer.saveCopy ? [this.copy = button('wide copy', t('saveCopy'), () => this.save())] : [],
        button('wide', viewerTranslator(viewer)('close'), () => cropper.cancel())))
    this.name = name
    this.element = createElement('div', { className: 'cropbar', role: 'toolbar', ariaLabel: t('crop') }, this.editRows, this.resultRows)
  }

  /** Shows the size and address of the cropped part. */
  show() {
    const { size: { width, height }, address, format, source } = this.cropper
    this.size.value = this.resultSize.value = this.t('dimensions', { width, height })
    this.link.href = fileAddress(address, source)
    this.link.download = this.name(format)
    this.degrees.value = this.slider.ariaValueText = `${this.degreeFormat.format(this.cropper.straightening)}°`.replace('-', '−')
  }

  /** Saves the cropped part as a new image on the server, once. */
  async save() {
    const { viewer, copyRequest } = this.cropper
    this.copy.disabled = true
    viewer.showMessage(this.t('copyBegins'))
    await viewer.saveCopy(copyRequest)
    this.copy.disabled = false
  }

  /** Resets the controls. */
  reset() {
    this.ratio.selectedIndex = 0
    this.slider.valueAsNumber = 0
  }

  setDone(isDone) {
    this.editRows.hidden = isDone
    this.resultRows.hidden = !isDone
    const first = isDone ? this.link : this.editRows.querySelector('.main')
    first.focus({ preventScroll: true })
  }
}

function createSelect(name, options, onSelect) {
  const onchange = ({ target }) => onSelect(target.selectedIndex)
  return createElement('select', { className: 'wide', ariaLabel: name, onchange }, ...options.map((option) => new Option(option)))
}
