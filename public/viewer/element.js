export function make(name, properties, ...children) {
  const element = Object.assign(document.createElement(name), properties)
  element.append(...children)
  return element
}

export function button(className, title, onclick, child = title) {
  return make('button', { type: 'button', className, title, ariaLabel: title, onclick }, child)
}
