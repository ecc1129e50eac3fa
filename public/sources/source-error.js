/** An error for a source that the viewer cannot open or rejects. */
export class SourceError extends Error {
  /**
   * @param {string} message for developers
   * @param {object} [about]
   * @param {string} [about.reason] the key of the message for the reader, in the group `viewer`
   * @param {Record<string, number>} [about.values] the values of that message
   * @param {number} [about.status] the status of the server's response
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
