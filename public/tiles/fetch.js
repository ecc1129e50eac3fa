import { MissingTile } from './loader.js'
import { tileKey } from './plan.js'

export async function fetchBitmap(url, signal) {
  const answer = await fetch(url, { signal })
  if (!answer.ok) {
    const text = `${answer.status} for ${url}`
    // But for "timeout", "too early" and "too many".
    if (answer.status < 500 && ![408, 425, 429].includes(answer.status)) throw new MissingTile(text)
    throw new Error(text)
  }
  const blob = await answer.blob()
  return createImageBitmap(blob).catch(() => { throw new MissingTile(`not an image: ${url}`) })
}

export function fetchTile({ coming, tileURL }, tile, signal) {
  const key = tileKey(tile)
  const bitmap = coming?.get(key)
  coming?.delete(key)
  const ask = () => fetchBitmap(tileURL(tile.level, tile.column, tile.row), signal)
  return bitmap?.catch(ask) ?? ask()
}
