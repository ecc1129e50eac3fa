import { request } from '../web-url.js'
import { button } from './dom.js'

const DELAYS = [5, 10, 20, 40] // s between retries

/** Retries failed requests: by a button, automatically with a backoff, and immediately when the device is online again. */
export class RetryController {
  #task = null
  #attempts = 0
  #timer = 0

  constructor() {
    this.element = button('wide again', '', () => this.retry(true))
    this.element.hidden = true
  }

  /**
   * Sets the label of the button.
   * @param {import('../i18n/translator.js').Translate} t
   */
  updateLabels(t) { this.element.textContent = this.element.title = this.element.ariaLabel = t('tryAgain') }

  /**
   * Schedules a retry.
   * @param {(isManual: boolean) => void} task performs it; must call `stop` after a success and `schedule` after a
   *   failure
   * @param {boolean} isAutomatic whether automatic retries may help
   */
  schedule(task, isAutomatic = true) {
    clearTimeout(this.#timer)
    this.#task = task
    this.element.hidden = false
    if (isAutomatic) this.#timer = setTimeout(() => this.retry(false), 1000 * DELAYS[Math.min(this.#attempts, DELAYS.length - 1)])
  }

  /**
   * Opens a source again once its server responds. Until then, the error message stays.
   * @param {unknown} what an address, or a source
   * @param {boolean} isAutomatic
   * @param {() => void} open
   */
  reopen(what, isAutomatic, open) {
    this.schedule(async () => {
      const task = this.#task
      const isReachable = typeof what !== 'string' || !isAutomatic || await isServerReachable(what)
      if (this.#task !== task) return
      if (isReachable) open()
      else this.reopen(what, isAutomatic, open)
    }, isAutomatic)
  }

  /**
   * Performs the retry now.
   * @param {boolean} isManual whether the reader requested it
   */
  retry(isManual) {
    this.#attempts += 1
    this.#task?.(isManual)
  }

  stop() {
    clearTimeout(this.#timer)
    this.#task = null
    this.#attempts = 0
    this.element.hidden = true
  }
}

/** Whether an error may be temporary: a network error, or a server that is overloaded or fails. */
export function isRetryable({ cause, status }) { return cause instanceof TypeError || status >= 500 || status === 429 }

/** Whether a server responds at an address; the response is not read. */
async function isServerReachable(url) {
  const response = await request(url, { method: 'HEAD', cache: 'no-store' }).catch(() => null)
  return Boolean(response && response.status < 500)
}
