/// <reference path="elements.d.ts" />
// For programs that import the elements from a server: /// <reference path="elements-url.d.ts" />

type ZigguratElementsModule = typeof import('./elements')
type ZigguratViewerInstance = import('./elements').ZigguratViewer
type ZigguratZoomInstance = import('./elements').ZigguratZoom

declare module '*/viewer/elements.js' {
  export const ZigguratViewer: ZigguratElementsModule['ZigguratViewer']
  export type ZigguratViewer = ZigguratViewerInstance
  export const ZigguratZoom: ZigguratElementsModule['ZigguratZoom']
  export type ZigguratZoom = ZigguratZoomInstance
}
