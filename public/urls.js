const root = new URL('.', import.meta.url).pathname

/** A path of the server's own: its root is this file's folder, wherever a proxy has put that. */
export function serverURL(path) { return root + path }
