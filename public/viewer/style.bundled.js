import css from './viewer.css'

/** As `style.js`, which `packaging/bundle-pages` replaces by this: the sheet comes with the script. */
export function styled(root) {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync(css)
  root.adoptedStyleSheets = [sheet]
  return Promise.resolve()
}
