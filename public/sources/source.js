/** What was asked for cannot be shown; `message` is for the reader of the page. */
export class SourceError extends Error {
  constructor(message, status = 0) {
    super(message)
    this.status = status
  }
}
