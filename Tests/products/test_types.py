"""The declarations beside viewer/elements.js: strict, true to the elements, and usable from TypeScript and React."""

import json
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PUBLIC = ROOT / "public"

PROGRAM = """
import { ZigguratViewer } from 'https://images.example.org/viewer/elements.js'
import { ZigguratCompare } from 'https://images.example.org/compare/ziggurat-compare.js'
const viewer: ZigguratViewer = document.querySelector('ziggurat-viewer')!
viewer.src = 'https://images.example.org/api/images/night-watch'
viewer.setImages(['a', 'b'], 1, { total: 2, viewingDirection: 'right-to-left' })
viewer.addEventListener('open', () => viewer.fit('width'))
viewer.addEventListener('viewport', ({ detail }) => { const cause: 'user' | 'program' | 'resize' = detail.cause; console.log(cause) })
viewer.addEventListener('error', ({ detail: { message, status } }) => message.toUpperCase() + (status ?? 0).toFixed())
viewer.addEventListener('motion', ({ detail }) => { const plays: boolean = detail; console.log(plays) })
const pair: ZigguratCompare = new ZigguratCompare()
pair.position = 30
pair.viewers[0]?.fit()
const slider: number = document.querySelector('ziggurat-compare')!.position
viewer.addEventListener('keydown', (event) => event.key)
viewer.zoomTo(2, { x: 1, y: 2 })
viewer.viewport = { scale: 1, x: 0, y: 0 }
const scale: number | undefined = viewer.viewport?.scale
const angle: number | undefined = viewer.viewport?.rotation.degrees
const point: { x: number, y: number } | null = viewer.imageToElement({ x: 1, y: 1 })
viewer.actions = [{ name: 'Buy', run: () => console.log(scale, angle, point) }]
viewer.snapshot().then((picture: Blob) => picture.size)
viewer.open('b').then(() => viewer.animation?.toggle())
const other = new ZigguratViewer()
viewer.syncWith(other)()
const ratio: number = document.createElement('ziggurat-zoom').aspectRatio
// @ts-expect-error
viewer.fit('bogus')
// @ts-expect-error
viewer.zoomTo('2')
// @ts-expect-error
viewer.panTo(slider + ratio)
// @ts-expect-error
viewer.index = 3
// @ts-expect-error
viewer.viewport = { scale: '1' }
// @ts-expect-error
viewer.addEventListener('viewport', ({ detail }) => detail.reason)
// @ts-expect-error
viewer.bogus()
"""

MODULE = """
import { ZigguratViewer, type Viewport } from './viewer/elements.js'
import { ZigguratCompare } from './compare/ziggurat-compare.js'
export const pair: ZigguratCompare = new ZigguratCompare()
export function scaleOf(viewer: ZigguratViewer): number { return (viewer.viewport as Viewport).scale }
export const zoom: Element = document.createElement('ziggurat-zoom')
"""

# As of DefinitelyTyped's @types/react 18 and 19, no more than the consumers need: 18 has a global JSX namespace, 19 its own.
REACT_18 = """
declare global {
  namespace JSX {
    interface Element { readonly type: unknown }
    interface IntrinsicElements { button: { onClick?: () => void, children?: unknown }, div: { children?: unknown } }
  }
}
export function useEffect(effect: () => void, dependencies: readonly unknown[]): void
export function useRef<T>(value: T | null): { current: T | null }
"""
REACT_19 = """
export interface RefObject<T> { current: T | null }
export interface HTMLAttributes<T> {
  id?: string; className?: string; lang?: string; style?: { [name: string]: string | number }; children?: unknown; onClick?: (event: { currentTarget: T }) => void
}
export type DetailedHTMLProps<E, T> = E & { ref?: RefObject<T> | null, key?: string | number | null }
export function useRef<T>(value: T | null): RefObject<T>
export namespace JSX {
  interface Element { readonly type: unknown }
  interface IntrinsicElements {
    button: DetailedHTMLProps<HTMLAttributes<HTMLButtonElement>, HTMLButtonElement>
    div: DetailedHTMLProps<HTMLAttributes<HTMLDivElement>, HTMLDivElement>
  }
}
"""
RUNTIME = """
import type * as React from 'react'
export namespace JSX {
  interface Element extends React.JSX.Element {}
  interface IntrinsicElements extends React.JSX.IntrinsicElements {}
}
export const jsx: unknown, jsxs: unknown, Fragment: unknown
"""
COMPONENT = """
import { useRef } from 'react'
import type { ZigguratViewer } from './viewer/elements.js'
%s
export function Picture({ id }: { id: string }) {
  const viewer = useRef<ZigguratViewer>(null)
  return <div>
    <ziggurat-viewer ref={viewer} className="picture" src={`/api/images/${id}`} max-scale={4} controls="none" gesture-handling="cooperative" ui="hidden" lang="de"%s>
      <button data-x="1">The captain</button>
    </ziggurat-viewer>
    <ziggurat-zoom aspect-ratio="16/9"><div /></ziggurat-zoom>
    <ziggurat-compare left="a" right="b" mode="side" position={30} label="Before and after" />
    <button onClick={() => viewer.current?.fit('cover')}>Fill</button>
  </div>
}
// @ts-expect-error
export const number = <ziggurat-viewer src={5} />
// @ts-expect-error
export const none = <ziggurat-viewer controls="all" />
// @ts-expect-error
export const neither = <ziggurat-compare mode="above" />
// @ts-expect-error
export const unknown = <ziggurat-viewer bogus="x" />
"""
# As Preact 10 and Solid 1 have them: namespaces of their own, found by the JSX runtime.
OWN_NAMESPACES = {
    "preact": {
        "index.d.ts": "export = preact\nimport { JSXInternal } from './jsx.js'\ndeclare namespace preact { export import JSX = JSXInternal }\n",
        "jsx.d.ts": "export namespace JSXInternal { type Element = unknown\ninterface IntrinsicElements { div: { children?: unknown } } }\n",
        "jsx-runtime.d.ts": "import { JSXInternal } from './jsx.js'\nexport const jsx: unknown, jsxs: unknown\nexport { JSXInternal as JSX }\n"},
    "solid-js": {
        "index.d.ts": "import type { JSX } from './jsx.js'\nexport type { JSX }\n",
        "jsx.d.ts": "export namespace JSX { type Element = unknown\ninterface IntrinsicElements { div: { children?: unknown } } }\n",
        "jsx-runtime.d.ts": "export * from './jsx.js'\n"},
}
OWN = """
import type {} from './declared.js'
export const picture = <div><ziggurat-viewer src="/api/images/harbour" class="picture" data-number={1} /></div>
// @ts-expect-error
export const number = <ziggurat-viewer src={5} />
"""

# The class of the script, as TypeScript finds it in the JavaScript, has each member that is declared. Its other members are for
# the page alone; a new one is declared or added here.
AGREEMENT = """
import { ZigguratViewer as Script } from '%(public)s/viewer/ziggurat-viewer.js'
import { ZigguratZoom as ZoomScript } from '%(public)s/zoom/ziggurat-zoom.js'
import { ZigguratCompare as CompareScript } from '%(public)s/compare/ziggurat-compare.js'
import { SourceError as ErrorScript } from '%(public)s/sources/source-error.js'
import { ZigguratViewer, ZigguratZoom, type ZigguratCompare, type SourceError } from '%(public)s/viewer/elements'
type Own<Class> = Exclude<keyof Class, keyof HTMLElement>
type Same<A, B> = [A] extends [B] ? [B] extends [A] ? true : false : false
type Callbacks = 'connectedCallback' | 'disconnectedCallback' | 'attributeChangedCallback' | 'connectedMoveCallback'
type Internal = 'change' | 'follow' | 'screen' | 'cover' | 'goBy' | 'run' | 'showMessage' | symbol
export const viewer: Same<Exclude<Own<Script>, Callbacks | Internal>, Own<ZigguratViewer>> = true
export const zoom: Same<Exclude<Own<ZoomScript>, Callbacks>, Own<ZigguratZoom>> = true
export const compare: Same<Exclude<Own<CompareScript>, Callbacks | 'slider'>, Own<ZigguratCompare>> = true
export const error: SourceError = null as unknown as ErrorScript
// The script's syncWith takes an element of the base class, which has internal members besides.
export const assigned: Pick<ZigguratViewer, Exclude<Own<ZigguratViewer>, 'syncWith'>> = null as unknown as Script
export const assignedZoom: Pick<ZigguratZoom, Exclude<Own<ZigguratZoom>, 'syncWith'>> = null as unknown as ZoomScript
"""

# A bundler's resolution is that of TypeScript 5, which Debian 12 does not have: it resolves relative imports as "node" does, and ".js"
# beside a declaration as both do.
RESOLUTIONS = [{"moduleResolution": "node"}, {"module": "node16", "moduleResolution": "node16"}]


def documented(heading: str) -> str:
    """The block of TypeScript in a section of the guide."""
    page = (ROOT / "docs/how-to/typescript.md").read_text()
    [block] = re.findall(r"```tsx\n(.*?)```", re.search(rf"^## {heading}\n(.+?)(?:^## |\Z)", page, re.MULTILINE | re.DOTALL)[1], re.DOTALL)
    return block


class Types(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "viewer").mkdir()
        for path in (PUBLIC / "viewer").glob("elements*.d.ts"):
            shutil.copy(path, self.folder / "viewer")
        (self.folder / "compare").mkdir()
        shutil.copy(PUBLIC / "compare/ziggurat-compare.d.ts", self.folder / "compare")

    def compile(self, files: dict[str, str], **options: object) -> str:
        """Writes files, compiles them but for packages, and returns what TypeScript reports."""
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        (self.folder / "tsconfig.json").write_text(json.dumps({
            "compilerOptions": {"noEmit": True, "strict": True, "exactOptionalPropertyTypes": True, "noUncheckedIndexedAccess": True,
                                "target": "es2022", "module": "es2022", "moduleResolution": "node", "types": [],
                                "lib": ["es2022", "dom", "dom.iterable"], **options},
            "files": [name for name in files if name.endswith((".ts", ".tsx")) and not name.startswith("node_modules")]}))
        return subprocess.run(["tsc", "--project", self.folder], capture_output=True, text=True).stdout

    def test_the_declarations_compile_strictly_and_are_small(self):
        # Without skipLibCheck: the declarations themselves are checked.
        for path in ("viewer/elements.d.ts", "viewer/elements-url.d.ts", "compare/ziggurat-compare.d.ts"):
            text = (self.folder / path).read_text()
            self.assertEqual(self.compile({path: text}), "", path)
            self.assertLess(len(text), 20_000)

    def test_a_program_that_imports_by_url(self):
        files = {"program.ts": '/// <reference path="viewer/elements-url.d.ts" />\n' + PROGRAM, "package.json": '{"type": "module"}'}
        for options in RESOLUTIONS:
            self.assertEqual(self.compile(files, **options), "", options)

    def test_a_program_with_a_copy_of_its_own(self):
        files = {"module.ts": MODULE, "package.json": '{"type": "module"}'}
        for options in RESOLUTIONS:
            self.assertEqual(self.compile(files, **options), "", options)

    def test_a_react_component(self):
        react_18 = {"node_modules/react/index.d.ts": REACT_18, "node_modules/react/package.json": '{"name": "react", "types": "index.d.ts"}',
                    "package.json": '{"type": "module"}', "picture.tsx": COMPONENT % ("", ""), "documented.tsx": documented("React 18")}
        react_19 = {"node_modules/react/index.d.ts": REACT_19, "node_modules/react/jsx-runtime.d.ts": RUNTIME,
                    "node_modules/react/package.json": '{"name": "react", "types": "index.d.ts", "exports": {'
                                                       '".": "./index.d.ts", "./jsx-runtime": "./jsx-runtime.d.ts"}}',
                    "package.json": '{"type": "module"}',
                    "picture.tsx": COMPONENT % ("import type {} from './viewer/elements-react.js'",
                                                " onidle={() => {}} onviewport={({ detail }) => detail.cause}"),
                    "documented.tsx": documented("React 19 and later")}
        for options in RESOLUTIONS:
            self.assertEqual(self.compile(react_18, jsx="preserve", **options), "", options)
            self.assertEqual(self.compile(react_19, jsx="react-jsx", **options), "", options)

    def test_jsx_with_a_namespace_of_its_own(self):
        declared = documented("Preact and Solid")
        for name, files in OWN_NAMESPACES.items():
            package = {f"node_modules/{name}/{path}": text for path, text in files.items()}
            package[f"node_modules/{name}/package.json"] = json.dumps({"name": name, "types": "index.d.ts", "exports": {
                ".": "./index.d.ts", "./jsx-runtime": "./jsx-runtime.d.ts"}})
            files = {**package, "package.json": '{"type": "module"}', "declared.ts": declared.replace("solid-js", name), "picture.tsx": OWN}
            for options in RESOLUTIONS:
                self.assertEqual(self.compile(files, jsx="react-jsx", jsxImportSource=name, **options), "", (name, options))

    def test_the_script_has_what_is_declared(self):
        self.assertEqual(self.compile({"agreement.ts": AGREEMENT % {"public": PUBLIC}}, allowJs=True, skipLibCheck=True), "")


if __name__ == "__main__":
    unittest.main()
