// The types of compare/ziggurat-compare.js, beside the script, with viewer/elements.d.ts in its folder.

import type { ZigguratCompare as Compare } from '../viewer/elements.js'

export const ZigguratCompare: { new (): Compare, readonly prototype: Compare }
export type ZigguratCompare = Compare
