import { whenIdle } from '../idle.js'
import { serverURL } from '../urls.js'
import { WORKER } from './address.js'

/**
 * Registers the service worker for offline use when the browser is idle. Does nothing if the browser has no support, or if
 * the sources are served unbundled for development.
 */
export function registerWorker() {
  if (!WORKER || !globalThis.navigator.serviceWorker) return
  const register = () => navigator.serviceWorker.register(serverURL(WORKER), { scope: serverURL('') }).catch(() => {})
  whenIdle(register)
}
