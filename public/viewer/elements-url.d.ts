/// <reference path="elements.d.ts" />
// For programs that import the elements from a server: /// <reference path="elements-url.d.ts" />

type ZigguratElementsModule = typeof import('./elements.js')
type ZigguratViewerInstance = import('./elements.js').ZigguratViewer
type ZigguratZoomInstance = import('./elements.js').ZigguratZoom
type ZigguratCompareInstance = import('./elements.js').ZigguratCompare

declare module '*/viewer/elements.js' {
  export const ZigguratViewer: ZigguratElementsModule['ZigguratViewer']
  export type ZigguratViewer = ZigguratViewerInstance
  export const ZigguratZoom: ZigguratElementsModule['ZigguratZoom']
  export type ZigguratZoom = ZigguratZoomInstance
}

declare module '*/compare/ziggurat-compare.js' {
  export const ZigguratCompare: { new (): ZigguratCompareInstance, readonly prototype: ZigguratCompareInstance }
  export type ZigguratCompare = ZigguratCompareInstance
}
