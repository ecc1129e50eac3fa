import { dateFormatter } from '../i18n/translator.js'

/** The gallery's state in its address: the query, the folder and the sort order. */

/**
 * @typedef {{ query: string, folder: string, sort: string }} QueryState an empty folder is the whole library; an
 *   empty order is by name
 */

/** The orders in the page's menu. Every order of the API is accepted in an address. */
export const ORDERS = ['', '-date', 'date', '-added', '-size']

/**
 * Parses an address's query.
 * @param {string} search
 * @returns {QueryState}
 */
export function parseQuery(search) {
  const parameters = new URLSearchParams(search)
  const [query, folder, sort] = ['q', 'folder', 'sort'].map((name) => parameters.get(name)?.trim() ?? '')
  return { query, folder: folder.replace(/\/+$/, ''), sort: sort === 'name' ? '' : sort }
}

/**
 * Returns the address for a state: the inverse of `parseQuery`.
 * @param {QueryState} state
 */
export function formatQuery({ query, folder, sort }) {
  const parameters = new URLSearchParams()
  if (folder) parameters.set('folder', folder)
  if (sort) parameters.set('sort', sort)
  if (query) parameters.set('q', query)
  // Spaces and slashes stay readable.
  const search = String(parameters).replaceAll('+', '%20').replaceAll('%2F', '/')
  return search ? `${location.pathname}?${search}` : location.pathname
}

const MONTH = { month: 'long', year: 'numeric', timeZone: 'UTC' }
let months

/**
 * Returns the heading of an image when the grid is sorted by date.
 * @param {{ date?: string }} image its date is in ISO 8601, possibly incomplete
 * @param {string} without the heading of images without a date
 */
export function monthOf({ date = '' }, without) {
  const [, year, month] = /^(\d{4})(?:-(\d\d))?/.exec(date) ?? []
  if (!year) return without
  if (!month) return year
  months ??= dateFormatter(MONTH)
  return months.format(new Date(`${year}-${month}-01T00:00Z`))
}
