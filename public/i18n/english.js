const address = new URL('./en.json', import.meta.url)

/**
 * The English messages by group. `packaging/bundle-pages` inlines each group into the script that needs it.
 * @type {import('./translator.js').Groups}
 */
export const english = address.protocol === 'file:'
  // In Node.js, `fetch` does not support file addresses.
  ? JSON.parse(await (await import('node:fs/promises')).readFile(address, 'utf8'))
  : await (await fetch(address)).json()
