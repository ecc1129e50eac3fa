const root = new URL('.', import.meta.url).pathname

/** Returns the address of a path on this server. The root is the folder of this file, wherever a proxy has mapped it. */
export function serverURL(path) { return root + path }
