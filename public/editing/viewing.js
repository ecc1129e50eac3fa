import { imageTitle } from '../sources/ziggurat.js'
import { text } from '../text/writing.js'
import { editImage } from './form.js'
import { deleteImages, leaveNote } from './trash.js'

export function showEditing(viewer, back) {
  const fail = ({ message }) => viewer.say(message)
  const edit = () => {
    const { source } = viewer
    editImage(viewer.shadowRoot, source.details.id, (image) => {
      Object.assign(source.details, image, { caption: image.caption })
      source.title = imageTitle(source.details)
      viewer.dispatchEvent(new Event('open'))
      viewer.say(text.saved)
    }).catch(fail)
  }
  const remove = async () => {
    try {
      const result = await deleteImages([viewer.source.details.id])
      if (!result.ids.size) return viewer.say(text.notDeleted(1))
      leaveNote(result)
      location.replace(back.href)
    } catch (error) { fail(error) }
  }
  viewer.actions = [{ name: text.edit, run: edit }, { name: text.delete, run: remove }]
}
