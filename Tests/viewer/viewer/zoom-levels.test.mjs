import { Pyramid } from '../../../public/geometry/pyramid.js'
import { Viewport } from '../../../public/geometry/viewport.js'
import { menusTranslator } from '../../../public/i18n/menus.js'
import { viewerTranslator } from '../../../public/i18n/viewer.js'
import { citation } from '../../../public/menus/details.js'
import { Camera } from '../../../public/viewer/camera.js'
import { scaleBar, visibleRegion } from '../../../public/viewer/descriptions.js'
import { isPanorama, nextZoomLevel, zoomLevels } from '../../../public/viewer/zoom-levels.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'

const WINDOW = { width: 1280, height: 800 }

test('the states are those that differ and that the limits allow', () => {
  for (const [image, fits] of [
    [{ width: 5120, height: 2880 }, ['contain', 'none']], [{ width: 2880, height: 5120 }, ['contain', 'width', 'none']],
    [{ width: 400, height: 300 }, ['contain', 'width']], [{ width: 1280, height: 800 }, ['contain']],
  ]) assert.deepEqual(zoomLevels(new Camera(image, WINDOW)).map(({ fit }) => fit), fits, JSON.stringify(image))
})

test('the fit button walks through them in a ring, and from any other view to the whole image', () => {
  const camera = new Camera({ width: 2880, height: 5120 }, WINDOW, { reducedMotion: true })
  const walked = []
  for (let step = 0; step < 4; step += 1) {
    const fit = nextZoomLevel(camera)
    camera.fit(fit, 0)
    walked.push(fit)
  }
  assert.deepEqual(walked, ['width', 'none', 'contain', 'width'])
  camera.wheel({ x: 600, y: 400 }, 1.2, 0)
  assert.equal(nextZoomLevel(camera), 'contain')
})

test('a long strip opens at its start, filling the window across', () => {
  const scroll = new Camera({ width: 1000, height: 60_000 }, WINDOW).viewport
  assert.deepEqual([scroll.scale, scroll.y], [1, 0])
  const panorama = new Camera({ width: 100_000, height: 2000 }, WINDOW).viewport
  assert.deepEqual([panorama.scale, panorama.x, panorama.y], [0.4, 0, 0])
  assert.ok(!isPanorama({ width: 5120, height: 2880 }, WINDOW) && !isPanorama({ width: 300, height: 3000 }, { width: 300, height: 3000 }))
})

test('a small image may be enlarged to at least five times its fit', () => {
  for (const image of [{ width: 1, height: 1 }, { width: 30, height: 20 }, { width: 640, height: 480 }, { width: 99_999, height: 10 }]) {
    const { minimum, maximum } = new Camera(image, WINDOW).limits
    assert.ok(maximum >= 5 * minimum)
  }
})

test('the scale bar is the longest round length that fits', () => {
  for (const [microns, scale, text, length] of [[0.5, 0.5, '100\u00a0µm', 100], [0.25, 1, '20\u00a0µm', 80], [10, 0.001, '1\u00a0m', 100], [0.001, 1, '100\u00a0nm', 100]]) {
    const bar = scaleBar(microns, scale, viewerTranslator())
    assert.equal(bar.text, text)
    assert.ok(Math.abs(bar.length - length) < 1e-6)
  }
  for (let power = -8; power < 8; power += 0.37) {
    const { length } = scaleBar(2 ** power, 1, viewerTranslator())
    assert.ok(length > 55 && length <= 140.0001)
  }
})

test('a citation names the part that is seen, and nothing where all is', () => {
  const source = { title: 'Night Watch', pyramid: new Pyramid({ width: 2000, height: 1000 }, 512), details: {}, tileURL: () => '' }
  const part = new Viewport({ width: 400, height: 300, scale: 1, x: 1800, y: -50 })
  assert.deepEqual(visibleRegion(source, part), [1800, 0, 2000, 250])
  assert.equal(citation(source, part, 'http://x/#y', menusTranslator()), 'Night Watch, 2,000 × 1,000, region 1800,0,200,250, http://x/#y')
  const whole = Viewport.fitting(source.pyramid.imageSize, 'contain', WINDOW)
  assert.equal(citation(source, whole, 'http://x/', menusTranslator()), 'Night Watch, 2,000 × 1,000, http://x/')
})
