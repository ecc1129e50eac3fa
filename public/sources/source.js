// @ts-check
/**
 * @typedef {object} Source one image that can be shown
 * @property {import('../geometry/pyramid.js').Pyramid} pyramid
 * @property {(level: number, column: number, row: number) => string} tileURL
 * @property {string} title
 * @property {Map<string, Promise<Blob>>} [coming] tiles that are on their way unasked, by key; each is taken once
 * @property {Record<string, any>} details what else its server says of it
 */

/** What was asked for cannot be shown; `message` is for the reader of the page. */
export class SourceError extends Error {
  /** @param {string} message @param {number} [status] HTTP */
  constructor(message, status = 0) {
    super(message)
    this.status = status
  }
}
