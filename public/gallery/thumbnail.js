// @ts-check
import { zigguratSource } from '../sources/ziggurat.js'

/**
 * The address of a thumbnail: a tile that holds the whole image, large enough for its box where
 * there is one.
 * @param {any} image as `/api/images` lists it
 * @param {number} pixels the box's longer side, device pixels
 * @param {URL} address of the list
 */
export function thumbnailURL(image, pixels, address) {
  const { pyramid, tileURL } = zigguratSource(image, address)
  const wanted = pyramid.levelForScale(pixels / Math.max(image.width, image.height))
  return tileURL(Math.min(wanted, pyramid.singleTileLevel), 0, 0)
}
