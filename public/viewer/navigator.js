import { createElement } from './dom.js'

/** The overview of the whole image with the visible part. A press or drag in it moves the view. */
export class Navigator {
  constructor(goTo) {
    this.picture = createElement('canvas')
    this.frame = document.createElementNS('http://www.w3.org/2000/svg', 'svg')
    this.visibleArea = document.createElementNS('http://www.w3.org/2000/svg', 'polygon')
    // A narrow image is shown wider than it is, so that it can be seen and pressed.
    this.frame.setAttribute('preserveAspectRatio', 'none')
    this.frame.append(this.visibleArea)
    this.element = createElement('div', { className: 'navigator', ariaHidden: true, hidden: true }, this.picture, this.frame)
    this.element.part.add('navigator')
    this.image = { width: 1, height: 1 }
    const point = (event) => {
      if (!this.element.hasPointerCapture(event.pointerId)) return
      const box = this.picture.getBoundingClientRect()
      goTo({
        x: (event.clientX - box.left) / box.width * this.image.width,
        y: (event.clientY - box.top) / box.height * this.image.height,
      })
    }
    this.element.onpointerdown = (event) => {
      this.element.setPointerCapture(event.pointerId)
      point(event)
    }
    this.element.onpointermove = point
  }

  open(image, bitmap) {
    this.image = image
    this.picture.width = bitmap.width
    this.picture.height = bitmap.height
    this.picture.getContext('2d')?.drawImage(bitmap, 0, 0)
    this.element.style.aspectRatio = `${image.width} / ${image.height}`
    this.element.classList.toggle('tall', image.height > image.width)
    this.frame.setAttribute('viewBox', `0 0 ${image.width} ${image.height}`)
    this.isOpen = true
  }

  close() {
    this.isOpen = false
    this.element.hidden = true
  }

  show(viewport) {
    const { width, height } = viewport
    const { image } = this
    const isWholeVisible = [[0, 0], [image.width, 0], [image.width, image.height], [0, image.height]]
      .map(([x, y]) => viewport.viewportPoint({ x, y }))
      .every(({ x, y }) => x > -1 && y > -1 && x < width + 1 && y < height + 1)
    this.element.hidden = !this.isOpen || isWholeVisible
    this.visibleArea.setAttribute('points', viewport.corners.map(({ x, y }) => `${x},${y}`).join(' '))
  }
}
