// Requests the image of the page's address while the page's script is loading. The bundler inlines this script into the
// page.

import { preloadTranslations } from '../i18n/preload.js'
import { firstViewURL, preloadFirstView } from '../sources/preload.js'
import { pathId, viewQuery } from '../viewer/view-hash.js'
import { withPath } from '../web-url.js'

const { clientWidth: width, clientHeight: height } = document.documentElement
const [root] = /^.*?\/(?=(view|embed)\/)/.exec(location.pathname) ?? ['/']
const address = withPath(new URL(location.href), `${root}api/images/${encodeURIComponent(pathId(location.pathname))}`)
if (width > 0 && height > 0) preloadFirstView(firstViewURL(address, viewQuery(location.hash, { width, height }, devicePixelRatio)))
const requestedLanguage = new URLSearchParams(location.search).get('lang')
preloadTranslations(root, requestedLanguage ? [requestedLanguage, ...navigator.languages] : navigator.languages)
