/** The base class of custom elements. Without a DOM it is an empty class, so that modules can be imported anywhere. */
export const Element = globalThis.HTMLElement ?? /** @type {typeof HTMLElement} */ (/** @type {unknown} */ (class {}))

/**
 * Creates an element with properties and children.
 * @param {string} name
 * @param {object} [properties]
 * @param {(Node | string)[]} children
 * @returns {any}
 */
export function createElement(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

/**
 * Creates a button.
 * @param {string} className
 * @param {string} title the accessible name
 * @param {((event: Event) => void) | null} onclick
 * @param {Node | string} [child] the content; the title by default
 * @returns {any}
 */
export function button(className, title, onclick, child = title) {
  return createElement('button', { type: 'button', className, title, ariaLabel: title, onclick }, child)
}

/**
 * Defines a custom element, unless it is defined already or there is no document.
 * @param {string} name
 * @param {typeof Element} element
 */
export function defineElement(name, element) {
  if (globalThis.customElements && !customElements.get(name)) customElements.define(name, element)
}
