import { dates } from '../text/language.js'

/** What the gallery's address asks for: which pictures, in which order. */

/** @typedef {{ query: string, folder: string, sort: string }} Asked an empty folder is the whole library; an empty order is by name */

/** The orders that the page offers; all that the API knows are taken from an address. */
export const ORDERS = ['', '-date', 'date', '-added', '-size']

/** @param {string} search of an address @returns {Asked} */
export function parseQuery(search) {
  const parameters = new URLSearchParams(search)
  const [query, folder, sort] = ['q', 'folder', 'sort'].map((name) => parameters.get(name)?.trim() ?? '')
  return { query, folder: folder.replace(/\/+$/, ''), sort: sort === 'name' ? '' : sort }
}

/** The other way round. @param {Asked} asked */
export function formatQuery({ query, folder, sort }) {
  const parameters = new URLSearchParams()
  if (folder) parameters.set('folder', folder)
  if (sort) parameters.set('sort', sort)
  if (query) parameters.set('q', query)
  // Spaces and slashes are to be read.
  const search = String(parameters).replaceAll('+', '%20').replaceAll('%2F', '/')
  return search ? `${location.pathname}?${search}` : location.pathname
}

const MONTH = { month: 'long', year: 'numeric', timeZone: 'UTC' }
let months

/**
 * Under which heading pictures stand that are sorted by date.
 * @param {{ date?: string }} image its date as ISO 8601 has it, as far as it is known
 * @param {string} without the heading of those that have none
 */
export function monthOf({ date = '' }, without) {
  const [, year, month] = /^(\d{4})(?:-(\d\d))?/.exec(date) ?? []
  if (!year) return without
  if (!month) return year
  months ??= dates(MONTH)
  return months.format(new Date(`${year}-${month}-01T00:00Z`))
}
