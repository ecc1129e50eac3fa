import { zigguratSource } from '../sources/ziggurat.js'

/** A tile that holds the whole image, large enough for its box where there is one. */
export function thumbnailURL(image, pixels, address) {
  const { pyramid, tileURL } = zigguratSource(image, address)
  const wanted = pyramid.levelForScale(pixels / Math.max(image.width, image.height))
  return tileURL(Math.min(wanted, pyramid.singleTileLevel), 0, 0)
}
