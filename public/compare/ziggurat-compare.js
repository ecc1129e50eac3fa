/**
 * @file `<ziggurat-compare>`: two images that show the same part of themselves, with a slider between them or side by side.
 *   It needs `viewer/elements.js` for its two viewers, and imports nothing.
 */

const KEYS = { ArrowLeft: -2, ArrowRight: 2, PageDown: -10, PageUp: 10, Home: -100, End: 100 }
const STYLE = `
  ziggurat-compare { position: relative; display: block; overflow: hidden; aspect-ratio: 3 / 2; }
  ziggurat-compare > ziggurat-viewer { position: absolute; inset: 0; height: auto; }
  ziggurat-compare > ziggurat-viewer + ziggurat-viewer { clip-path: inset(0 0 0 var(--part)); }
  ziggurat-compare[mode="side"] > ziggurat-viewer { inset-inline-end: 50%; clip-path: none; }
  ziggurat-compare[mode="side"] > ziggurat-viewer + ziggurat-viewer { inset-inline: 50% 0; }
  ziggurat-compare[mode="side"]::after { content: ""; position: absolute; inset-block: 0; left: 50%; border-inline-start: 1px solid #fff; pointer-events: none; }
  ziggurat-compare[mode="side"] > [role="slider"] { display: none; }
  ziggurat-compare > [role="slider"] { position: absolute; inset-block: 0; left: var(--part); width: 44px; translate: -50% 0; padding: 0; border: 0; background: linear-gradient(#fff, #fff) 50% 0 / 2px 100% no-repeat; cursor: ew-resize; touch-action: none; }
  ziggurat-compare > [role="slider"]::before { content: "⇔"; position: absolute; inset: 50% auto auto 50%; translate: -50% -50%; width: 44px; border-radius: 50%; background: #17181b; color: #fff; font: 20px/44px system-ui; text-align: center; box-shadow: 0 0 0 2px #fff; }
  ziggurat-compare > [role="slider"]:focus-visible { outline: none; }
  ziggurat-compare > [role="slider"]:focus-visible::before { box-shadow: 0 0 0 4px #8ec5ff; }
`

/**
 * The element that compares two images. It dispatches `input` when the reader moves the slider. These attributes apply
 * whenever they are set:
 * - `left` and `right`: the addresses of the images, as in the `src` of a viewer
 * - `mode`: `slider` (default) or `side`
 * - `position`: the position of the slider in percent from the left (default 50)
 * - `label`: the name of the slider for screen readers (default: the titles of the images)
 */
export class ZigguratCompare extends (globalThis.HTMLElement ?? class {}) {
  static observedAttributes = ['left', 'right', 'mode', 'position', 'label']

  /**
   * The viewers on the left and on the right.
   * @type {HTMLElement[]}
   */
  viewers = []
  /** @type {(() => void) | null} */
  #endSync = null
  #connected = new AbortController()

  connectedCallback() {
    style(this.getRootNode())
    // Properties that were set before the class was defined would hide the accessors.
    for (const name of ZigguratCompare.observedAttributes.filter((name) => Object.hasOwn(this, name))) {
      const value = this[name]
      delete this[name]
      this[name] = value
    }
    if (!this.viewers.length) this.#build()
    this.#connected = new AbortController()
    customElements.whenDefined('ziggurat-viewer').then(() => {
      if (!this.isConnected) return
      this.#endSync?.()
      this.#endSync = this.viewers[0].syncWith(this.viewers[1])
      // The image that opens later shows the current part of the other.
      for (const [viewer, other] of [this.viewers, this.viewers.toReversed()]) {
        viewer.addEventListener('open', () => {
          this.#show()
          if (other.viewport) other.dispatchEvent(new CustomEvent('viewport', { detail: { cause: 'program' } }))
        }, { signal: this.#connected.signal })
      }
    })
  }

  disconnectedCallback() {
    this.#connected.abort()
    this.#endSync?.()
    this.#endSync = null
  }

  attributeChangedCallback() { if (this.viewers.length) this.#show() }

  /** The address of the image on the left. */
  get left() { return this.getAttribute('left') ?? '' }
  set left(url) { this.setAttribute('left', url) }

  /** The address of the image on the right. */
  get right() { return this.getAttribute('right') ?? '' }
  set right(url) { this.setAttribute('right', url) }

  /** `slider` or `side`. */
  get mode() { return this.getAttribute('mode') === 'side' ? 'side' : 'slider' }
  set mode(mode) { this.setAttribute('mode', mode) }

  /** The name of the slider for screen readers; empty if it is that of the images. */
  get label() { return this.getAttribute('label') ?? '' }
  set label(text) { this.setAttribute('label', text) }

  /** The position of the slider in percent from the left. */
  get position() {
    const value = parseFloat(this.getAttribute('position') ?? '50')
    return Number.isFinite(value) ? Math.min(Math.max(value, 0), 100) : 50
  }
  set position(percent) { this.setAttribute('position', String(percent)) }

  #build() {
    const createViewer = (properties) => Object.assign(document.createElement('ziggurat-viewer'), properties)
    this.viewers = [createViewer({}), createViewer({})]
    for (const viewer of this.viewers) {
      viewer.setAttribute('navigator', 'none')
      viewer.setAttribute('controls', 'none')
    }
    this.slider = Object.assign(document.createElement('button'), { type: 'button', role: 'slider', ariaValueMin: '0', ariaValueMax: '100' })
    let isDragged = false
    this.slider.onpointerdown = (event) => {
      isDragged = true
      this.slider.setPointerCapture(event.pointerId)
    }
    this.slider.onpointermove = ({ clientX }) => {
      const { left, width } = this.getBoundingClientRect()
      if (isDragged) this.#move(100 * (clientX - left) / width)
    }
    this.slider.onlostpointercapture = () => { isDragged = false }
    this.slider.onkeydown = (event) => {
      if (!(event.key in KEYS)) return
      event.preventDefault()
      this.#move(this.position + KEYS[event.key])
    }
    this.append(...this.viewers, this.slider)
    this.#show()
  }

  #move(percent) {
    this.position = Math.round(10 * Math.min(Math.max(percent, 0), 100)) / 10
    this.dispatchEvent(new Event('input'))
  }

  #show() {
    const [left, right] = this.viewers
    for (const [viewer, name] of [[left, 'left'], [right, 'right']]) {
      const src = this.getAttribute(name) ?? ''
      if ((viewer.getAttribute('src') ?? '') !== src) viewer.setAttribute('src', src)
    }
    // One control bar suffices, since the viewers are synchronized. In the middle, the slider would divide it.
    if (this.getAttribute('mode') === 'side') right.removeAttribute('controls')
    else right.setAttribute('controls', 'none')
    this.style.setProperty('--part', `${this.position}%`)
    // The titles are independent of the language.
    this.slider.ariaLabel = this.getAttribute('label') ?? this.viewers.map(({ source }) => source?.title ?? '').join(' | ')
    this.slider.ariaValueNow = String(Math.round(this.position))
  }
}

const styled = new WeakSet()

/**
 * Adds the style sheet to a document or shadow root. No style attributes are used, so any Content-Security-Policy permits
 * it.
 */
function style(root) {
  if (styled.has(root)) return
  styled.add(root)
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(STYLE)
  root.adoptedStyleSheets.push(sheet)
}

if (globalThis.customElements && !customElements.get('ziggurat-compare')) customElements.define('ziggurat-compare', ZigguratCompare)
