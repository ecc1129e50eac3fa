/**
 * Takes a picture that was deleted out of the album that a page shows, and goes on to the next one, or the last.
 * @param {import('../page/page.js').PicturePage} page
 * @param {string} id
 * @returns {(() => void) | null} brings it back, and to where it was; null where there is no other picture to show
 */
export function removeFromAlbum(page, id) {
  const { album } = page
  const index = album?.ids.indexOf(id) ?? -1
  if (!album || index < 0 || album.ids.length < 2) return null
  page.follow({ ...album, ids: album.ids.toSpliced(index, 1), total: album.total - 1, index: Math.min(index, album.ids.length - 2) })
  page.changed()
  return () => {
    page.changed()
    if (page.isEnded) return
    const { ids, total } = page.album
    page.follow({ ...page.album, ids: ids.toSpliced(index, 0, id), total: total + 1, index })
  }
}
