import { whenIdle } from '../idle.js'
import { serverURL } from '../urls.js'
import { WORKER } from './address.js'

/**
 * Has the pages start without a network, too, where the browser lets them; once nothing else is to be done. Who develops, with
 * the sources served as they are, has no worker between.
 */
export function registerWorker() {
  if (!WORKER || !globalThis.navigator.serviceWorker) return
  const register = () => navigator.serviceWorker.register(serverURL(WORKER), { scope: serverURL('') }).catch(() => {})
  whenIdle(register)
}
