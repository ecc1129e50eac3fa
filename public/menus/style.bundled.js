import css from './menus.css'

const sheet = globalThis.CSSStyleSheet && new CSSStyleSheet()
sheet?.replaceSync(css)

/**
 * The bundled version of `style.js`, by which `packaging/bundle-pages` replaces it: the style sheet is part of the script.
 */
export function loadMenuStyles(root) {
  if (!root.adoptedStyleSheets.includes(sheet)) root.adoptedStyleSheets = [...root.adoptedStyleSheets, sheet]
  return Promise.resolve()
}
