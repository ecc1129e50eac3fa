// Asks for the picture of the page's own address while the page's script is on its way. Bundled, it stands in the page.

import { askAhead, firstViewURL } from '../sources/ahead.js'
import { pathId, viewQuery } from '../viewer/link.js'

const { clientWidth: width, clientHeight: height } = document.documentElement
const [root] = /^.*?\/(?=view\/)/.exec(location.pathname) ?? ['/']
const address = new URL(`${root}api/images/${encodeURIComponent(pathId(location.pathname))}`, location.href)
if (width > 0 && height > 0) askAhead(firstViewURL(address, viewQuery(location.hash, { width, height }, devicePixelRatio)))
