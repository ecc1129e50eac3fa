import css from './menus.css'

const sheet = globalThis.CSSStyleSheet && new CSSStyleSheet()
sheet?.replaceSync(css)

/** As `style.js`, which `packaging/bundle-pages` replaces by this: the sheet comes with the script. */
export function styledMenus(root) {
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]
  return Promise.resolve()
}
