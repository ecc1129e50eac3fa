"""What `src` takes: archives on a static host, books, IIIF manifests of both versions and content states."""

import base64
import functools
import json
import shutil
import socket
import subprocess
import tempfile
import time
import unittest
import urllib.parse
import urllib.request
import zipfile
from pathlib import Path
from unittest import mock

from PIL import Image

from browser import BINARY, CLEAN, pages_tried, served, source
from embedding import PAGE, EmbeddingTest

# Plain: what a distribution's nginx does with files, on another origin too.
NGINX = """daemon off; pid FOLDER/pid; error_log stderr; worker_processes 1; events {}
http { access_log off; types { text/html html; text/javascript js; text/css css; }
  client_body_temp_path FOLDER/a; proxy_temp_path FOLDER/b; fastcgi_temp_path FOLDER/c; uwsgi_temp_path FOLDER/d; scgi_temp_path FOLDER/e;
  server { listen 127.0.0.1:PORT; listen 127.0.0.1:OTHER; root FOLDER/root; add_header Access-Control-Allow-Origin *; } }"""


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@functools.cache
def place() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="ziggurat-sources-"))
    unittest.addModuleCleanup(shutil.rmtree, folder, ignore_errors=True)
    # Workers of nginx run as somebody else.
    folder.chmod(0o755)
    return folder


@functools.cache
def nginx() -> tuple[str, str]:
    """Two addresses of a plain web server that has archives and the viewer, and nothing of ours that runs."""
    folder, port, other = place(), free_port(), free_port()
    root = folder / "root"
    shutil.copytree(pages_tried(), root)
    archives(root)
    (root / "page.html").write_text(f"{PAGE}<ziggurat-viewer style='width: 900px; height: 600px'></ziggurat-viewer>")
    (folder / "nginx.conf").write_text(NGINX.replace("FOLDER", str(folder)).replace("PORT", str(port)).replace("OTHER", str(other)))
    server = subprocess.Popen(["/usr/sbin/nginx", "-c", folder / "nginx.conf"], stderr=subprocess.DEVNULL)
    unittest.addModuleCleanup(server.wait, 20)
    unittest.addModuleCleanup(server.terminate)
    base = f"http://127.0.0.1:{port}/"
    for _ in range(400):
        try:
            urllib.request.urlopen(base + "view.html").close()
            return base, f"http://127.0.0.1:{other}/"
        except OSError:
            time.sleep(0.025)
    raise AssertionError("nginx does not listen")


def archives(root: Path) -> None:
    photo = place() / "photos/photo.jpg"
    photo.parent.mkdir()
    shutil.copy(source("FallenLeaf"), photo)
    large = place() / "photos/large.tif"
    subprocess.run(["vips", "black", f"{large}[compression=deflate,tile]", "20000", "15000", "--bands", "3"], check=True)
    subprocess.run([BINARY, "build", photo.parent, "--library", root, "--quiet"], check=True, env=CLEAN)
    tree = place() / "foreign"
    subprocess.run(["vips", "dzsave", photo, tree, "--suffix", ".jpg"], check=True)
    files = {f"foreign/foreign{path.relative_to(place()).as_posix()[len('foreign'):]}": path
             for path in [tree.with_suffix(".dzi"), *(place() / "foreign_files").rglob("*.jpg")]}
    for name, limit, packing in (("deflated", None, zipfile.ZIP_DEFLATED), ("wide", 1, zipfile.ZIP_STORED)):
        with mock.patch.object(zipfile, "ZIP64_LIMIT", limit or zipfile.ZIP64_LIMIT), \
                zipfile.ZipFile(root / f"{name}.szi", "w", packing) as archive:
            for entry, path in sorted(files.items()):
                archive.writestr(entry, path.read_bytes())
            archive.comment = b"other people's"
    shutil.copy(photo, place() / "unseen.jpg")
    subprocess.run([BINARY, "build", place() / "unseen.jpg", "--library", place() / "unseen", "--quiet", "--format", "jxl"], check=True, env=CLEAN)
    shutil.move(place() / "unseen" / "unseen.szi", root)
    (root / "unseen.dzi").write_text('<Image xmlns="http://schemas.microsoft.com/deepzoom/2008" Format="jxl" Overlap="0" TileSize="512">'
                                     '<Size Width="2560" Height="1600"/></Image>')
    (root / "cut.szi").write_bytes((root / "photo.szi").read_bytes()[:-50_000])


# A browser without JPEG XL, which recognizes the format by its first bytes.
BLIND = """const decode = createImageBitmap
createImageBitmap = async (blob, ...rest) => {
  const [first, second] = new Uint8Array(await blob.slice(0, 2).arrayBuffer())
  if (first === 255 && second === 10) throw new DOMException('The source image could not be decoded.', 'InvalidStateError')
  return decode(blob, ...rest)
}"""


class Archives(EmbeddingTest):
    def open(self, name, allowed_errors=(), script=""):
        visit = self.visit(host=nginx()[0], allowed_errors=allowed_errors)
        visit.page.add_init_script(script)
        visit.open("page.html", wait=False)
        visit.until("return Boolean(customElements.get('ziggurat-viewer'))")
        visit.run("""viewer.addEventListener('open', () => { globalThis.before = [...fetched] }, { once: true })
            viewer.addEventListener('error', ({ detail }) => { globalThis.fault = detail.message })
            viewer.src = argument""", name)
        return visit

    def test_an_archive_on_a_static_host_opens_after_at_most_three_requests(self):
        visit = self.open("/large.szi")
        visit.sharp()
        self.assertEqual(visit.run("return viewer.source.pyramid.imageSize"), {"width": 20000, "height": 15000})
        before = visit.run("return globalThis.before")
        self.assertLessEqual(len(before), 3, before)
        self.assertEqual(visit.run("return viewer.missingTiles"), 0)
        self.assertEqual(visit.run("return viewer.source.title"), "large")

    def test_other_peoples_archives_open(self):
        for name, size in (("photo", [2560, 1600]), ("deflated", [2560, 1600]), ("wide", [2560, 1600])):
            with self.subTest(name):
                visit = self.open(f"/{name}.szi")
                visit.sharp()
                visit.run("viewer.viewport = { scale: 1, x: 700, y: 400 }")
                visit.sharp()
                self.assertEqual(visit.run("const { width, height } = viewer.source.pyramid.imageSize; return [width, height]"), size)
                self.assertEqual(visit.run("return viewer.missingTiles"), 0)
                self.assertShowsPhoto(visit, "FallenLeaf", (700, 400))

    def assertShowsPhoto(self, visit, image, corner):
        """At full resolution: the middle of the view is that of the photograph."""
        shown = visit.run("""const { canvas } = { canvas: viewer.shadowRoot.querySelector('canvas.picture') }
            return [...canvas.getContext('2d').getImageData(400, 250, 64, 64).data]""")
        part = Image.open(source(image)).convert("RGB").crop((corner[0] + 400, corner[1] + 250, corner[0] + 464, corner[1] + 314))
        theirs = [value for pixel in part.getdata() for value in pixel]
        ours = [value for index, value in enumerate(shown) if index % 4 < 3]
        self.assertLess(sum(abs(a - b) for a, b in zip(ours, theirs)) / len(theirs), 8)

    def test_an_archive_of_another_site_opens(self):
        elsewhere = nginx()[1]
        page = self.open(f"{elsewhere}photo.szi")
        page.sharp()
        page.requests[:] = [url for url in page.requests if not url.startswith(elsewhere)]

    def test_an_unsupported_format_is_reported_with_advice(self):
        for name in ("unseen.szi", "unseen.dzi"):
            with self.subTest(name):
                visit = self.open(f"/{name}", allowed_errors=["404"], script=BLIND)
                visit.until("return globalThis.fault")
                notice = visit.run("return viewer.shadowRoot.querySelector('.notice').textContent")
                self.assertIn("This browser cannot show images in JPEG XL format. Use another browser", notice)
                self.assertEqual(visit.page.get_by_role("button", name="Try again").count(), 0)
                visit.run("viewer.src = '/photo.szi'")
                visit.sharp()

    def test_other_files_are_reported_as_no_archive(self):
        for name in ("cut.szi", "nope.szi"):
            with self.subTest(name):
                visit = self.open(f"/{name}", allowed_errors=["404", "error"])
                visit.until("return globalThis.fault")


class Albums(EmbeddingTest):
    @classmethod
    def setUpClass(cls):
        photos = place() / "books/photos"
        photos.mkdir(parents=True)
        pages = [Image.new("RGB", (600 + 100 * number, 400), color) for number, color in enumerate(("red", "green", "blue"))]
        pages[0].save(photos / "codex.tif", save_all=True, append_images=pages[1:])
        shutil.copy(source("FallenLeaf"), photos / "leaf.jpg")
        cls.host = served(photos)

    def viewer(self, src, allowed_errors=(), **routes):
        visit = self.visit(host=self.host, allowed_errors=allowed_errors)
        for name, document in routes.items():
            visit.page.route(f"**/{name}.json", lambda route, _, document=document: route.fulfill(
                content_type="application/json", body=json.dumps(document)))
        visit.page.route("**/embedding", lambda route: route.fulfill(content_type="text/html", body=PAGE + (
            f"<ziggurat-viewer style='width: 600px; height: 400px' src='{src}'></ziggurat-viewer>")))
        visit.open("embedding", wait=False)
        visit.sharp()
        return visit

    def test_a_books_id_and_its_manifest_are_an_album(self):
        book = json.load(urllib.request.urlopen(self.host + "api/images?fields=id,book,urls"))
        self.assertIn("codex", json.dumps(book))
        for src in ("/api/images/codex", "/iiif/presentation/3/codex/manifest"):
            with self.subTest(src):
                visit = self.viewer(src)
                self.assertEqual(visit.run("return [viewer.images.length, viewer.index]"), [3, 0])
                widths = []
                for index in range(3):
                    visit.run("viewer.goTo(argument)", index)
                    visit.until(f"return viewer.index === {index} && viewer.isFullyLoaded")
                    widths.append(visit.run("return viewer.source.pyramid.imageSize.width"))
                self.assertEqual(widths, [600, 700, 800])
                visit.run("viewer.src = '/api/images/leaf'")
                visit.until("return viewer.source?.title === 'leaf' && viewer.isFullyLoaded")
                self.assertEqual(visit.run("return viewer.images.length"), 0, "the next picture is in no album")

    def manifests(self):
        def service(image, version):
            return {"id": f"{self.host}iiif/3/{image}", "type": "ImageService3"} if version == 3 else {
                "@id": f"{self.host}iiif/2/{image}", "@context": "http://iiif.io/api/image/2/context.json"}
        leaf, page = ({"type": "Image", "id": f"{self.host}iiif/3/{name}/full/max/0/default.jpg", "label": {"en": [label]},
                       "service": [service(name, 3)]} for name, label in (("leaf", "Visible"), ("codex%2F2", "Infrared")))
        three = {
            "@context": "http://iiif.io/api/presentation/3/context.json", "id": f"{self.host}three.json", "type": "Manifest",
            "label": {"de": ["Ein Buch"], "en": ["A book"]},
            "items": [
                {"id": "https://example.org/c1", "type": "Canvas", "label": {"none": ["f. 1r"]}, "width": 1280, "height": 800,
                 "items": [{"type": "AnnotationPage", "items": [{"type": "Annotation", "motivation": "painting", "body": {
                     "type": "Choice", "items": [leaf, page]}}]}]},
                {"id": "https://example.org/c2", "type": "Canvas", "label": {"none": ["f. 1v"]}, "width": 700, "height": 400,
                 "items": [{"type": "AnnotationPage", "items": [{"type": "Annotation", "motivation": "painting", "body": {
                     "type": "Image", "id": f"{self.host}iiif/3/codex%2F2/full/max/0/default.jpg", "width": 700, "height": 400}}]}]}],
            "structures": [{"type": "Range", "label": {"en": ["Contents"]}, "items": [
                {"type": "Range", "label": {"en": ["The end"]}, "items": [{"type": "Canvas", "id": "https://example.org/c2"}]}]}]}
        two = {"@context": "http://iiif.io/api/presentation/2/context.json", "@id": f"{self.host}two.json", "@type": "sc:Manifest",
               "label": "A book", "sequences": [{"canvases": [
                   {"@id": f"https://example.org/{image}", "@type": "sc:Canvas", "label": label, "images": [{"resource": {
                       "@id": f"{self.host}iiif/2/{image}/full/full/0/default.jpg", "service": service(image, 2)}}]}
                   for image, label in (("leaf", "f. 1r"), ("codex%2F3", "f. 1v"))]}],
               "structures": [{"@type": "sc:Range", "label": "The end", "canvases": ["https://example.org/codex%2F3"]}]}
        return {"three": three, "two": two}

    def test_manifests_of_both_versions_have_labels_ranges_and_layers(self):
        for name in ("three", "two"):
            with self.subTest(name):
                visit = self.viewer(f"/{name}.json", **self.manifests())
                self.assertEqual(visit.run("return [viewer.images.length, viewer.source.title, viewer.album.label]"), [2, "f. 1r", "A book"])
                self.assertIn({"label": "The end", "index": 1}, visit.run("return viewer.album.ranges"))
                visit.run("viewer.goTo(1)")
                visit.until("return viewer.index === 1 && viewer.isFullyLoaded")
                self.assertEqual(visit.run("return viewer.source.title"), "f. 1v")
                self.assertEqual(visit.run("return viewer.missingTiles"), 0)
        visit = self.viewer("/three.json", **self.manifests())
        self.assertEqual(visit.run("return viewer.source.layers.map(({ label }) => label)"), ["Visible", "Infrared"])
        visit.run("return viewer.showLayer(1)")
        visit.sharp()
        self.assertEqual(visit.run("return viewer.source.pyramid.imageSize.width"), 700)
        self.assertEqual(visit.run("return viewer.images.length"), 2)
        # And by the menu.
        visit.page.get_by_role("button", name="More").click()
        visit.page.get_by_role("menuitem", name="Layers").click()
        lines = visit.page.get_by_role("dialog", name="Layers")
        self.assertEqual([lines.get_by_role("button", name=name, exact=True).get_attribute("aria-pressed") for name in ("Visible", "Infrared")],
                         ["false", "true"])
        lines.get_by_role("button", name="Visible").click()
        visit.until("return viewer.source?.layer === 0 && viewer.isFullyLoaded")
        self.assertEqual(visit.run("return [viewer.source.pyramid.imageSize.width !== 700, viewer.images.length]"), [True, 2])

    def test_a_content_state_opens_its_canvas_at_its_region(self):
        target = {"id": "https://example.org/c1#xywh=320,200,640,400", "type": "Canvas",
                  "partOf": [{"id": f"{self.host}three.json", "type": "Manifest"}]}
        state = {"@context": "http://iiif.io/api/presentation/3/context.json", "type": "Annotation", "motivation": ["contentState"],
                 "target": target}
        encoded = base64.urlsafe_b64encode(urllib.parse.quote(json.dumps(state)).encode()).decode().rstrip("=")
        bare = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
        for src in (f"/?iiif-content={encoded}", bare, "/state.json"):
            with self.subTest(src[:20]):
                visit = self.viewer(src, state=state, **self.manifests())
                # The canvas is half as large as the picture.
                center = visit.run("return viewer.viewport.imageCenter")
                self.assertAlmostEqual(center["x"], 1280, places=3)
                self.assertAlmostEqual(center["y"], 800, places=3)
                self.assertAlmostEqual(visit.view()["scale"], 600 / 1280, places=6)


if __name__ == "__main__":
    unittest.main()
