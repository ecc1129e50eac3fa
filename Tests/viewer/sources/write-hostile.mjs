// node write-hostile.mjs SEED COUNT: writes hostile answers of a server, one a line of JSON, for tests in a browser: `opens`, what
// is opened; `changes`, what is wrong; `answers`, by path what the server sends, base64.

import { random } from '../numbers.mjs'
import { bytesOf, DOCUMENTS, hostileDocument } from './documents.mjs'

const [seed, count] = process.argv.slice(2).map(Number)
const next = random(seed)
for (let number = 0; number < count; number += 1) {
  const { name, at, opens = at, hostile, changes } = hostileDocument(next)
  const answers = Object.fromEntries(Object.entries(DOCUMENTS)
    // A server of ours answers a view as well.
    .filter(([each]) => each !== 'API description of a view' || each === name)
    .map(([each, { at: path, document }]) => [path, bytesOf(each, each === name ? hostile : document).toString('base64')]))
  console.log(JSON.stringify({ opens, changes, answers }))
}
