/**
 * Removes a deleted image from the album of the page, and shows the next image or the last one.
 * @param {import('../page/page.js').ImagePage} page
 * @param {string} id
 * @returns {(() => void) | null} a function that restores the image at its position; null if the album has no other image
 */
export function removeFromAlbum(page, id) {
  const { album } = page
  const index = album?.ids.indexOf(id) ?? -1
  if (!album || index < 0 || album.ids.length < 2) return null
  page.changeAlbum({ ...album, ids: album.ids.toSpliced(index, 1), total: album.total - 1, index: Math.min(index, album.ids.length - 2) })
  page.imageChanged()
  return () => {
    page.imageChanged()
    if (page.isClosed) return
    const { ids, total } = page.album
    page.changeAlbum({ ...page.album, ids: ids.toSpliced(index, 0, id), total: total + 1, index })
  }
}
