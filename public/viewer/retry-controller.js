import { request } from '../web-url.js'
import { button } from './element.js'

const PAUSES = [5, 10, 20, 40] // s between retries

/** Retries failed requests: by a button, automatically with a backoff, and immediately when the device is online again. */
export class RetryController {
  constructor() {
    this.element = button('wide again', '', () => this.again(true))
    this.element.hidden = true
  }

  /**
   * Sets the label of the button.
   * @param {import('../i18n/translator.js').Translate} t
   */
  updateLabels(t) { this.element.textContent = this.element.title = this.element.ariaLabel = t('tryAgain') }

  /**
   * Schedules a retry.
   * @param {(byHand: boolean) => void} again performs it; must call `stop` after a success and `wait` after a failure
   * @param {boolean} byItself whether automatic retries may help
   */
  wait(again, byItself = true) {
    clearTimeout(this.timer)
    this.act = again
    this.element.hidden = false
    this.tries ??= 0
    if (byItself) this.timer = setTimeout(() => this.again(false), 1000 * PAUSES[Math.min(this.tries, PAUSES.length - 1)])
  }

  /**
   * Opens a source again once its server responds. Until then, the error message stays.
   * @param {unknown} what an address, or a source
   * @param {boolean} byItself
   * @param {() => void} open
   */
  reopen(what, byItself, open) {
    this.wait(async () => {
      const { act } = this
      const isThere = typeof what !== 'string' || !byItself || await answers(what)
      if (this.act !== act) return
      if (isThere) open()
      else this.reopen(what, byItself, open)
    }, byItself)
  }

  /**
   * Performs the retry now.
   * @param {boolean} byHand whether the reader requested it
   */
  again(byHand) {
    this.tries += 1
    this.act?.(byHand)
  }

  stop() {
    clearTimeout(this.timer)
    this.act = null
    this.tries = 0
    this.element.hidden = true
  }
}

/** Whether an error may be temporary: a network error, or a server that is overloaded or fails. */
export function isRetryable({ cause, status }) { return cause instanceof TypeError || status >= 500 || status === 429 }

/** Whether a server responds at an address; the response is not read. */
async function answers(url) {
  const answer = await request(url, { method: 'HEAD', cache: 'no-store' }).catch(() => null)
  return Boolean(answer && answer.status < 500)
}
