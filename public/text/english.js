const address = new URL('./en.json', import.meta.url)

/**
 * The English words, by groups. `packaging/bundle-pages` puts each group into the script that needs it instead.
 * @type {import('./language.js').Groups}
 */
export const english = address.protocol === 'file:'
  // Outside of browsers no address of a file can be fetched.
  ? JSON.parse(await (await import('node:fs/promises')).readFile(address, 'utf8'))
  : await (await fetch(address)).json()
