import { text as reading } from './english.js'

const { number } = reading

export const text = {
  addPictures: 'Add pictures',
  dropHere: 'Drop pictures anywhere on this page, or',
  intoSpace: 'Into the private space',
  choosePictures: 'Choose pictures',
  takePhoto: 'Take a photo',
  cancel: 'Cancel',
  cancelled: 'Cancelled.',
  linkIsOver: 'This link lets nobody in any more. Ask for a new one.',
  queued: 'Waits for its turn.',
  sendingPart: (part) => `Sending: ${Math.floor(part * 100)} %`,
  waitingForServer: 'The server does not answer; trying again.',
  waitingForTiling: 'Sent; waits to be prepared.',
  tilingPart: (part) => `Preparing: ${Math.floor(part * 100)} %`,
  added: 'Added.',
  thereAlready: 'This picture is there already.',
  tryAgain: 'This did not work. Choose the picture again to go on.',
  unfinished: (names) => `Not finished: ${names}. Choose the same files again to go on where they ended.`,

  choosePhone: 'Send pictures from this phone:',
  fromOthers: 'From another device',

  trash: 'Trash',
  trashKeeps: 'What is deleted comes back with all its words, until its time is over.',
  trashIsEmpty: 'Nothing was deleted lately.',
  restore: 'Restore',
  andMore: (names, count) => `${names} and ${number(count)} more`,
  deletedAt: (time, hours) => `Deleted ${time}; gone for good in ${hours === 1 ? 'an hour' : `${number(hours)} hours`}.`,

  select: 'Select pictures',
  selection: 'Selected pictures',
  selected: (count) => `${number(count)} selected`,
  leave: 'End selecting',
  edit: 'Edit title and caption',
  delete: 'Delete',
  deleted: (count) => `${pictures(count)} deleted.`,
  notDeleted: (count) => `${number(count)} could not be deleted.`,
  moveIn: 'Move to the private space',
  moveOut: 'Show to everybody',
  moved: (count) => `${pictures(count)} moved.`,
  undo: 'Undo',
  restored: (count) => `${pictures(count)} restored.`,
  title: 'Title',
  caption: 'Caption',
  keywords: 'Keywords, with commas between them',
  save: 'Save',
  saved: 'Saved.',
  notSaved: 'This did not work. Please try again.',
  conflict: 'Somebody else has changed this meanwhile. Please look, and save again.',
  theirs: (words) => words ? `They wrote: “${words}”` : 'They left this empty.',
  useTheirs: 'Take theirs',

  phone: 'Scan this with a phone in the same network to send its photos.',
  phoneCode: 'QR code of this page for a phone',
}

function pictures(count) { return count === 1 ? '1 picture' : `${number(count)} pictures` }
