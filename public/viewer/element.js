/** What elements extend: without a DOM nothing that is ever made, so that modules can be imported anywhere. */
export const Element = globalThis.HTMLElement ?? /** @type {typeof HTMLElement} */ (/** @type {unknown} */ (class {}))

/**
 * An element with properties and children.
 * @param {string} name
 * @param {object} [properties]
 * @param {(Node | string)[]} children
 * @returns {any}
 */
export function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

/**
 * A button.
 * @param {string} className
 * @param {string} title what it is called, in words
 * @param {((event: Event) => void) | null} onclick
 * @param {Node | string} [child] what is seen in it; its title without one
 * @returns {any}
 */
export function button(className, title, onclick, child = title) {
  return make('button', { type: 'button', className, title, ariaLabel: title, onclick }, child)
}

/**
 * Makes a class the element of that name, once, where there is a document.
 * @param {string} name
 * @param {typeof Element} element
 */
export function define(name, element) {
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, element)
}
