/** The viewer cannot, or does not want to, show a source. */
export class SourceError extends Error {
  /**
   * @param {string} message for developers
   * @param {object} [about]
   * @param {string} [about.reason] the key of the sentence that the reader sees, in the group `reading`
   * @param {Record<string, number>} [about.values] of that sentence
   * @param {number} [about.status] of the server's response
   * @param {string} [about.format] the image format that this browser does not support
   * @param {unknown} [about.cause] the error that led to this one
   */
  constructor(message, about = {}) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause })
    this.reason = about.reason
    this.values = about.values ?? {}
    this.status = about.status
    this.format = about.format
  }
}
