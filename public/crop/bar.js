import { fileAddress } from '../menus/download.js'
import { copy } from '../menus/share.js'
import { text } from '../text/english.js'
import { button, make } from '../viewer/element.js'

const FORMATS = ['jpg', 'png', 'webp']

/** What stands below the picture while it is cut: first what draws the frame, then what is done with what is in it. */
export class CropBar {
  /** @param {import('./cropper.js').Cropper} cropper */
  constructor(cropper) {
    this.cropper = cropper
    const { viewer, source: { title, pyramid } } = cropper
    const { width, height } = pyramid.imageSize
    const ratios = [null, width / height, ...text.ratios.slice(2).map((words) => {
      const [across, down] = words.split(' : ').map(Number)
      return across / down
    })]
    this.size = make('output', { className: 'size' })
    this.link = make('a', {
      className: 'wide main', textContent: text.download, onclick: () => viewer.say(text.downloadBegins),
    })
    this.ratio = choice(text.ratio, text.ratios, (index) => {
      // That of the picture is that of the picture as it is turned.
      const isTurned = index === 1 && cropper.viewport.turn.degrees % 180 !== 0
      cropper.lock(isTurned ? 1 / ratios[1] : ratios[index])
    })
    const name = (ending) => `${title || text.viewer}.${ending}`
    const row = (...children) => make('div', { className: 'row' }, ...children)
    this.drawing = make('div', { className: 'rows' },
      row(this.ratio, button('', text.turnLeft, () => viewer.rotate(-90), '↺'),
        button('', text.turnRight, () => viewer.rotate(90), '↻'), button('wide', text.reset, () => cropper.reset())),
      row(button('wide', text.cancel, () => cropper.cancel()), this.size,
        button('wide main', text.done, () => cropper.finish())))
    this.shownSize = make('output', { className: 'size' })
    this.keeping = make('div', { className: 'rows', hidden: true },
      row(this.shownSize, choice(text.format, ['JPEG', 'PNG', 'WebP'], (index) => {
        cropper.format = FORMATS[index]
        this.show()
      }), this.link),
      row(button('wide', text.cropAgain, () => cropper.edit()),
        button('wide', text.copyLink, () => copy(viewer, text.copyLink, cropper.address)),
        button('wide', text.close, () => cropper.cancel())))
    this.name = name
    this.element = make('div', { className: 'cropbar', role: 'toolbar', ariaLabel: text.crop }, this.drawing, this.keeping)
  }

  /** Tells what is in the frame. */
  show() {
    const { size: { width, height }, address, format, source } = this.cropper
    this.size.value = this.shownSize.value = text.pixels(width, height)
    this.link.href = fileAddress(address, source)
    this.link.download = this.name(format)
  }

  showRatio(index) { this.ratio.selectedIndex = index }

  showDone(isDone) {
    this.drawing.hidden = isDone
    this.keeping.hidden = !isDone
    const first = isDone ? this.link : this.drawing.querySelector('.main')
    first.focus({ preventScroll: true })
  }
}

function choice(name, options, chosen) {
  const onchange = ({ target }) => chosen(target.selectedIndex)
  return make('select', { className: 'wide', ariaLabel: name, onchange }, ...options.map((option) => new Option(option)))
}
