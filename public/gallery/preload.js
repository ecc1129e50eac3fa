// Requests the translations while the page's script is loading. The bundler inlines this script into the page.

import { preloadTranslations } from '../i18n/preload.js'

preloadTranslations(location.pathname.replace(/[^/]*$/, ''))
