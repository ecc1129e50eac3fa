// For React 19 and later, whose JSX namespace is its own: import type {} from './viewer/elements-react.js'

import type { DetailedHTMLProps, HTMLAttributes } from 'react'
import type {
  ZigguratCompare, ZigguratCompareAttributes, ZigguratCompareEventMap, ZigguratViewer, ZigguratViewerAttributes, ZigguratViewerEventMap,
  ZigguratZoom, ZigguratZoomAttributes, ZigguratZoomEventMap,
} from './elements.js'

/** Events of a custom element as properties: `onidle` for `idle`. */
export type EventProperties<Map> = { [Type in keyof Map & string as `on${Type}`]?: ((event: Map[Type]) => void) | undefined }

/** The properties of an element of React with the attributes and events of a custom element. */
export type CustomElementProperties<Element, Attributes, Events> = DetailedHTMLProps<HTMLAttributes<Element>, Element>
  & Attributes & EventProperties<Events> & { [data: `data-${string}`]: unknown }

declare module 'react' {
  namespace JSX {
    interface IntrinsicElements {
      'ziggurat-viewer': CustomElementProperties<ZigguratViewer, ZigguratViewerAttributes, ZigguratViewerEventMap>
      'ziggurat-zoom': CustomElementProperties<ZigguratZoom, ZigguratZoomAttributes, ZigguratZoomEventMap>
      'ziggurat-compare': CustomElementProperties<ZigguratCompare, ZigguratCompareAttributes, ZigguratCompareEventMap>
    }
  }
}
