// The types of viewer/elements.js: a module, as TypeScript expects it beside the script. For imports by URL there is
// elements-url.d.ts, for React 19 and later elements-react.d.ts. `<ziggurat-compare>` is declared here as well; its script is
// compare/ziggurat-compare.js.

/** A point: image pixels of the image at full resolution, or CSS pixels of an element from its top left corner. */
export interface Point { readonly x: number, readonly y: number }

/** A size: image pixels or CSS pixels. */
export interface Size { readonly width: number, readonly height: number }

/** The way in which an image fits the element: whole, without a gap, as wide, or with an image pixel per pixel of the screen. */
export type Fit = 'contain' | 'cover' | 'width' | 'none'

/** The rotation of a picture about the middle of the element, after an optional mirroring left to right. */
export interface Rotation {
  /** The angle in degrees clockwise, from 0 to below 360. */
  readonly degrees: number
  /** Whether the picture is mirrored left to right before it is rotated. */
  readonly isFlipped: boolean
}

/** @deprecated the name of `Rotation` until version 2.0 */
export type Turn = Rotation

/** A window onto an image. */
export interface Viewport {
  /** The width of the window in CSS pixels. */
  readonly width: number
  /** The height of the window in CSS pixels. */
  readonly height: number
  /** The zoom scale in CSS pixels per image pixel. */
  readonly scale: number
  /** The content offset from the left in CSS pixels, before the rotation. */
  readonly x: number
  /** The content offset from the top in CSS pixels, before the rotation. */
  readonly y: number
  /** The rotation of the picture. */
  readonly rotation: Rotation
  /** @deprecated the name of `rotation` until version 2.0 */
  readonly turn: Rotation
  /** The image point in the middle, image pixels. */
  readonly imageCenter: Point
  /** Converts a point from CSS pixels of the window to image pixels. */
  imagePoint(point: Point): Point
  /** Converts a point from image pixels to CSS pixels of the window. */
  viewportPoint(point: Point): Point
}

/** The parts of a viewport that a program may set. */
export type ViewportParts = Partial<Pick<Viewport, 'scale' | 'x' | 'y'>> & { rotation?: Viewport['rotation'] | number }

/** A rectangle of an image, in image pixels. */
export interface Rect { readonly x: number, readonly y: number, readonly width: number, readonly height: number }

/** A source that opens itself. */
export interface OpenableSource { open(signal: AbortSignal): Promise<object> }

/** A value that a viewer can open: an address of any kind, a source that opens itself, or an opened source. */
export type Openable = string | OpenableSource | object

/** The range of a book or manifest: a title and the index of its first image. */
export interface AlbumRange { readonly label: string, readonly index: number }

/** The images to page through, as a part of more. */
export interface Album {
  /** The index of the list's first image in the whole album. */
  readonly offset?: number
  /** The number of images of the whole album. */
  readonly total?: number
  /** The title of the manifest or book. */
  readonly label?: string
  /** The ranges of the manifest or book; empty without one. */
  readonly ranges: readonly AlbumRange[]
}

/** The part of an album that `setImages` is given. */
export interface AlbumPart {
  /** The index of the list's first image in the whole album; 0 if absent. */
  offset?: number
  /** The number of images of the whole album; the length of the list if absent. */
  total?: number
  /** The side to which one continues, as IIIF Presentation names it. */
  viewingDirection?: 'left-to-right' | 'right-to-left' | 'top-to-bottom' | 'bottom-to-top'
}

/** The state of an animated picture. */
export interface Animation {
  /** Whether the picture is playing. */
  readonly plays: boolean
  /** The index of the frame that is shown. */
  readonly frame: number
  /** Plays or pauses. */
  toggle(): void
  /** Pauses and moves by a number of frames. */
  step(by: number): void
}

/** An entry of the menu and a button of the details. */
export interface Action { name: string, run: () => void }

/** The part of an image of which a server makes a new image, as the HTTP API's `copies` takes it. */
export type CopyRequest = Record<string, unknown>

/** The cause of a change of the view. */
export type ViewportCause = 'user' | 'program' | 'resize'

/** The way in which a user asks to close the image: a key, a tap, a swipe down, or a pinch below the fitted size. */
export type CloseCause = 'key' | 'tap' | 'swipe' | 'pinch'

/** The reason why an image cannot be opened. `message` says in English what failed, and names the address. */
export interface SourceError extends Error {
  /** The HTTP status of the response, if it is one of failure. */
  readonly status?: number | undefined
  /** The image format, if this browser does not support it. */
  readonly format?: string | undefined
}

/** The events of `<ziggurat-viewer>`, in the order of an image that opens and is moved. None of them bubbles. */
export interface ZigguratViewerEventMap {
  /** Another image of the album is chosen. Its `open` follows. */
  page: Event
  /** The image is described: `source` and `viewport` are set, and nothing is drawn yet. */
  open: Event
  /** The view has changed. Moves without an animation fire it before the next line runs, animated ones for each frame. */
  viewport: CustomEvent<{ cause: ViewportCause }>
  /** A gesture, a click or a move by the program has ended, and the view is at rest. Does not fire for the first view or after a resize, nor if `viewport` or `view` is set to the view that is shown already. A viewer that follows another fires it after each step. */
  idle: Event
  /** Nothing more will load for this view, even if tiles are missing. Can fire again for the same view. */
  complete: Event
  /** Directly after `complete`, if every tile of the view is drawn. */
  'fully-loaded': Event
  /** The user has hidden or shown the controls or the thumbnails. */
  'ui-toggle': Event
  /** An animated image plays (true) or pauses. */
  motion: CustomEvent<boolean>
  /** The user wants to close the image: Escape (`key`), a tap with `tap="close"`, a swipe down, or a pinch below the fitted size. */
  close: CustomEvent<{ cause: CloseCause }>
  /** The image cannot be opened. `detail.message` says what failed. */
  error: CustomEvent<SourceError>
}

/** The events of `<ziggurat-compare>`, besides those of any element. */
export interface ZigguratCompareEventMap {
  /** The reader has moved the slider. */
  input: Event
}

/** The events of `<ziggurat-zoom>`. */
export interface ZigguratZoomEventMap {
  /** The view has changed. */
  viewport: Event
}

/** `<ziggurat-viewer>`: shows an image, or several to page through. */
export class ZigguratViewer extends HTMLElement {
  /** The address of the image; empty without one. */
  src: string
  /** The view; `null` before an image is open. */
  get viewport(): Viewport | null
  set viewport(viewport: Viewport | ViewportParts | null)
  /** Additional entries of the menu and buttons of the details. */
  actions: Action[]
  /** Has a server make an image of the part that is cropped; `null` if nobody may. */
  saveCopy: ((wish: CopyRequest) => Promise<void>) | null
  /** The source that is open, with its description in `details`; `null` without one. */
  readonly source: any
  /** The images to page through. */
  readonly images: readonly unknown[]
  /** The index of the image that is shown. */
  readonly index: number
  /** The album that the images belong to. */
  readonly album: Album
  /** The animation of the picture; `null` if it is not animated. */
  readonly animation: Animation | null
  /** Whether the view is at rest and every tile is drawn. */
  readonly isFullyLoaded: boolean
  /** @deprecated Use `isFullyLoaded`. */
  readonly isSharp: boolean
  /** Whether the view is at rest and nothing more is loaded. */
  readonly isComplete: boolean
  /** The number of tiles of the view that could not be loaded. */
  readonly missingTiles: number
  /** The numbers of tile requests by their outcome. */
  readonly requestCounts: Readonly<Partial<Record<'requested' | 'loaded' | 'aborted' | 'retried' | 'failed', number>>>
  /** The size of the tiles in memory, in bytes. */
  readonly cachedBytes: number
  /** Opens an image. The promise is fulfilled even if the image cannot be opened; `error` reports that. */
  open(what: Openable): Promise<void>
  /** Sets the images to page through, and shows the one at `index`, 0 if absent. If it is shown already, it is not opened again. */
  setImages(list: readonly Openable[], index?: number, album?: AlbumPart): void
  /** Shows another image of those to page through; an index without an image is ignored. */
  goTo(index: number): void
  /** Shows another picture of those that the source offers as a choice, in the same view. */
  showLayer(index: number): Promise<void>
  /** Fits the image to the element; `contain` if absent. @throws {RangeError} if the fit does not exist */
  fit(fit?: Fit): void
  /** Shows a rectangle of the image, image pixels, as large as it fits into the element. */
  zoomToRegion(region: Rect): void
  /** Zooms to CSS pixels per image pixel. The image point under `point`, CSS pixels of the element, stays there. */
  zoomTo(scale: number, point?: Point): void
  /** Zooms by a factor. The image point under `point`, CSS pixels of the element, stays there. */
  zoomBy(factor: number, point?: Point): void
  /** Moves an image point, image pixels, to the middle. */
  panTo(center: Point): void
  /** Rotates the picture further, in degrees clockwise. */
  rotate(degrees: number): void
  /** Mirrors the picture left to right. */
  flip(): void
  /** Converts image pixels to CSS pixels of the element; `null` before an image is open. */
  imageToElement(point: Point): Point | null
  /** Converts CSS pixels of the element to image pixels; `null` before an image is open. */
  elementToImage(point: Point): Point | null
  /** Keeps two viewers at the same part of their images; returns a function that ends it. */
  syncWith(other: ZigguratViewer): () => void
  /** Returns the view as a picture file; PNG if `type` is absent. */
  snapshot(type?: string): Promise<Blob>

  addEventListener<Type extends keyof ZigguratViewerEventMap>(
    type: Type, listener: (this: ZigguratViewer, event: ZigguratViewerEventMap[Type]) => unknown, options?: boolean | AddEventListenerOptions): void
  addEventListener<Type extends Exclude<keyof HTMLElementEventMap, keyof ZigguratViewerEventMap>>(
    type: Type, listener: (this: ZigguratViewer, event: HTMLElementEventMap[Type]) => unknown, options?: boolean | AddEventListenerOptions): void
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void
  removeEventListener<Type extends keyof ZigguratViewerEventMap>(
    type: Type, listener: (this: ZigguratViewer, event: ZigguratViewerEventMap[Type]) => unknown, options?: boolean | EventListenerOptions): void
  removeEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | EventListenerOptions): void
}

/** `<ziggurat-zoom>`: the viewer's gestures around any HTML. */
export class ZigguratZoom extends HTMLElement {
  /** The width of the content divided by its height; 1 without an attribute. */
  readonly aspectRatio: number
  /** The view of the content, which is 1000 CSS pixels wide; `null` before the element has a size. */
  readonly viewport: Viewport | null

  addEventListener<Type extends keyof ZigguratZoomEventMap>(
    type: Type, listener: (this: ZigguratZoom, event: ZigguratZoomEventMap[Type]) => unknown, options?: boolean | AddEventListenerOptions): void
  addEventListener<Type extends Exclude<keyof HTMLElementEventMap, keyof ZigguratZoomEventMap>>(
    type: Type, listener: (this: ZigguratZoom, event: HTMLElementEventMap[Type]) => unknown, options?: boolean | AddEventListenerOptions): void
  addEventListener(type: string, listener: EventListenerOrEventListenerObject, options?: boolean | AddEventListenerOptions): void
}

/** `<ziggurat-compare>`: two pictures that show the same part of themselves. Its class is in compare/ziggurat-compare.js. */
export interface ZigguratCompare extends HTMLElement {
  /** The address of the image on the left; empty without one. */
  left: string
  /** The address of the image on the right; empty without one. */
  right: string
  /** A slider between the images, or both side by side. */
  mode: 'slider' | 'side'
  /** The name of the slider for screen readers; empty if it is that of the images. */
  label: string
  /** The position of the slider in percent from the left. */
  position: number
  /** The viewers on the left and on the right; empty before the element is in a document. */
  readonly viewers: readonly ZigguratViewer[]
}

/** An attribute without a value: present or absent. */
export type Flag = boolean | ''

/** The attributes of `<ziggurat-viewer>`. */
export interface ZigguratViewerAttributes {
  /** The address of the image. */
  src?: string | undefined
  /** The view to begin with, as links have it after `#`. */
  view?: string | undefined
  /** The smallest scale, CSS pixels per image pixel. */
  'min-scale'?: number | string | undefined
  /** The largest scale, CSS pixels per image pixel. */
  'max-scale'?: number | string | undefined
  /** The scale of a double tap, CSS pixels per image pixel. */
  'double-tap-scale'?: number | string | undefined
  /** Whether two fingers rotate the picture. */
  'two-finger-rotation'?: Flag | undefined
  /** Without the bar. */
  controls?: 'none' | undefined
  /** Without the small picture. */
  navigator?: 'none' | undefined
  /** The page scrolls by wheel and one finger. */
  'gesture-handling'?: 'cooperative' | undefined
  /** Whether thumbnails of the images are shown. */
  filmstrip?: Flag | undefined
  /** Control bar and overview are hidden. */
  ui?: 'hidden' | undefined
  /** A tap fires `close`. */
  tap?: 'close' | undefined
  /** @deprecated Use `gesture-handling="cooperative"`. */
  cooperative?: Flag | undefined
  /** @deprecated Use `ui="hidden"`. */
  quiet?: Flag | undefined
}

/** The attributes of `<ziggurat-zoom>`. */
export interface ZigguratZoomAttributes {
  /** Width and height of the content: `16/9`, `16:9` or a number. */
  'aspect-ratio'?: number | string | undefined
}

/** The attributes of `<ziggurat-compare>`. */
export interface ZigguratCompareAttributes {
  /** The address of the picture on the left. */
  left?: string | undefined
  /** The address of the picture on the right. */
  right?: string | undefined
  /** A slider between the pictures, or both side by side; `slider` if absent. */
  mode?: 'slider' | 'side' | undefined
  /** The position of the slider in percent from the left; 50 if absent. */
  position?: number | string | undefined
  /** The name of the slider for screen readers. */
  label?: string | undefined
}

/** Attributes that JSX passes to any element. */
export interface CommonAttributes {
  id?: string | undefined
  class?: string | undefined
  className?: string | undefined
  style?: string | object | undefined
  slot?: string | undefined
  title?: string | undefined
  lang?: string | undefined
  role?: string | undefined
  hidden?: boolean | undefined
  tabIndex?: number | undefined
  key?: string | number | null | undefined
  ref?: unknown
  children?: unknown
  [data: `data-${string}` | `aria-${string}`]: unknown
}

declare global {
  interface HTMLElementTagNameMap {
    'ziggurat-viewer': ZigguratViewer
    'ziggurat-zoom': ZigguratZoom
    'ziggurat-compare': ZigguratCompare
  }

  // React up to 18 reads this. Preact and Solid have a namespace of their own: see docs/how-to/typescript.md.
  namespace JSX {
    interface IntrinsicElements {
      'ziggurat-viewer': ZigguratViewerAttributes & CommonAttributes
      'ziggurat-zoom': ZigguratZoomAttributes & CommonAttributes
      'ziggurat-compare': ZigguratCompareAttributes & CommonAttributes
    }
  }
}
