import css from './viewer.css'

/**
 * The bundled version of `style.js`, by which `packaging/bundle-pages` replaces it: the style sheet is part of the script.
 */
export function loadStyles(root) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  root.adoptedStyleSheets = [sheet]
  return Promise.resolve()
}
