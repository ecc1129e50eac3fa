import { spacesTranslator } from '../i18n/spaces.js'
import { viewerTranslator } from '../i18n/viewer.js'
import { serverURL } from '../urls.js'
import { showDialog } from '../viewer/dialog.js'
import { button, createElement } from '../viewer/dom.js'
import { icon } from './icons.js'
import { oneAtATime } from './one-at-a-time.js'
import { logIn, session } from './session.js'

const KEY = 'ziggurat-locked'
/** The channel on which a page of this server notifies the others that it has locked the space. */
const channel = () => new BroadcastChannel(`ziggurat-locked ${serverURL('')}`)
let isWatched = false
let isLeaving = false

/**
 * Adds the button that unlocks or locks a private space.
 * @param {HTMLElement} header
 */
export async function showLock(header) {
  const { hasSpace } = await session()
  const t = spacesTranslator()
  const label = t(hasSpace ? 'lock' : 'unlock')
  header.append(button('round lock', label, hasSpace ? lock : showPasswordDialog, icon(hasSpace ? 'moveOut' : 'moveIn')))
  if (hasSpace) watchSession()
  else if (sessionStorage.getItem(KEY)) {
    sessionStorage.removeItem(KEY)
    const line = createElement('p', { className: 'locked', role: 'status' })
    header.after(line)
    // Screen readers announce only changes of a live region.
    setTimeout(() => { line.textContent = t('sessionEnded') })
  }
}

/** Leaves the page as soon as its private space is locked: by timeout, by this page or by another one. */
export function watchSession() {
  if (isWatched) return
  isWatched = true
  let timer
  channel().onmessage = () => leavePage(true)
  const checkSession = async () => {
    clearTimeout(timer)
    const { hasSpace, expiresIn } = await session(true)
    if (!hasSpace) return leavePage(true)
    document.body.hidden = false
    timer = setTimeout(checkSession, Math.min(expiresIn + 1, 60) * 1000)
  }
  // After a return by the back button, the page is hidden until the session is checked.
  addEventListener('pagehide', () => { document.body.hidden = true })
  addEventListener('pageshow', ({ persisted }) => persisted && checkSession())
  document.addEventListener('visibilitychange', () => document.hidden || checkSession())
  checkSession()
}

/** @param {boolean} [isReported] whether the gallery reports that the space was locked */
function leavePage(isReported) {
  // The page that locks the space receives its own message, too.
  if (isLeaving) return
  isLeaving = true
  document.body.hidden = true
  sessionStorage.clear()
  if (isReported) sessionStorage.setItem(KEY, 1)
  if (location.pathname === serverURL('')) location.reload()
  else location.replace(serverURL(''))
}

async function lock() {
  const { ok } = await fetch(serverURL('api/session'), { method: 'DELETE' })
  if (!ok) return
  const others = channel()
  others.postMessage('')
  others.close()
  leavePage()
}

function showPasswordDialog() {
  const t = spacesTranslator()
  const field = createElement('input', { type: 'password', required: true, autocomplete: 'current-password' })
  const error = createElement('p', { role: 'alert' })
  const send = createElement('button', { className: 'wide', textContent: t('unlockNow') })
  // Both keep the focus while a password is checked, and Enter still submits the form. The property `disabled` would prevent
  // that.
  const show = (isChecking) => {
    field.readOnly = isChecking
    send.ariaDisabled = isChecking
    send.textContent = t(isChecking ? 'checking' : 'unlockNow')
    if (!isChecking) field.select()
  }
  const submit = oneAtATime(async () => {
    error.textContent = ''
    const response = await logIn({ password: field.value }).catch(() => null)
    if (response?.ok) {
      sessionStorage.clear()
      location.reload()
      // The page shows the progress until it is replaced.
      return new Promise(() => {})
    }
    const seconds = Number(response?.headers.get('Retry-After'))
    error.textContent = seconds ? t('wait', { count: seconds }) : response?.status < 500 ? t('refused') : viewerTranslator()('tryAgain')
    return seconds > 0 || response?.status < 500
  }, show)
  const onsubmit = (event) => {
    event.preventDefault()
    submit()
  }
  const label = createElement('label', { textContent: t('password') }, field)
  showDialog(document.body, t('unlock'), [createElement('form', { onsubmit }, label, error, send)], 'narrow')
}
