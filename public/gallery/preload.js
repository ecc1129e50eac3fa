// Asks for the words of the reader's language while the page's script is on its way. Bundled, it stands in the page.

import { preloadTranslations } from '../text/preload.js'

preloadTranslations(location.pathname.replace(/[^/]*$/, ''))
