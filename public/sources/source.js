/**
 * @typedef Source one image that can be shown
 * @property [coming] tiles that are on their way unasked, by key; each is taken once
 * @property details what else its server says of it
 */

/** What was asked for cannot be shown; `message` is for the reader of the page. */
export class SourceError extends Error {
  constructor(message, status = 0) {
    super(message)
    this.status = status
  }
}
