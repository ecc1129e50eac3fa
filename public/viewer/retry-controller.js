import { request } from '../web-url.js'
import { button } from './element.js'

const PAUSES = [5, 10, 20, 40] // s, from one try to the next

/** Has what could not be had tried again: by a button, by itself, and at once when the device is online. */
export class RetryController {
  constructor() {
    this.element = button('wide again', '', () => this.again(true))
    this.element.hidden = true
  }

  /** @param {import('../text/language.js').Say} say */
  name(say) { this.element.textContent = this.element.title = this.element.ariaLabel = say('tryAgain') }

  /**
   * Something is missing.
   * @param {(byHand: boolean) => void} again tries it; calls `stop` where it has come, `wait` where it has not
   * @param {boolean} byItself whether that may help without anybody's doing
   */
  wait(again, byItself = true) {
    clearTimeout(this.timer)
    this.act = again
    this.element.hidden = false
    this.tries ??= 0
    if (byItself) this.timer = setTimeout(() => this.again(false), 1000 * PAUSES[Math.min(this.tries, PAUSES.length - 1)])
  }

  /**
   * What could not be opened is opened once there is an answer: until then it stays as it is told.
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

  /** @param {boolean} byHand whether the reader asks for it */
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

/** Whether an error may be over later: of the network, or of a server that is busy, away or does not know. */
export function isRetryable({ cause, status }) { return cause instanceof TypeError || status >= 500 || status === 429 }

/** Whether there is an answer at an address by now, which is not read. */
async function answers(url) {
  const answer = await request(url, { method: 'HEAD', cache: 'no-store' }).catch(() => null)
  return Boolean(answer && answer.status < 500)
}
