"""DICOM files that are no slides: frames as a viewer shows them, by pydicom's reading of the standard."""

import io
import json
import unittest
from pathlib import Path

import numpy
import pydicom
from harness import folder, run
from one_source import OneSource
from PIL import Image
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.pixels import apply_modality_lut, apply_voi_lut
from pydicom.uid import ExplicitVRLittleEndian, ImplicitVRLittleEndian, RLELossless

ROWS, COLUMNS = numpy.mgrid[0:90, 0:120]
GRAY = ((COLUMNS * 30 + ROWS * 7) % 4096).astype("<u2")
COLOUR = numpy.stack([COLUMNS * 2, ROWS * 2, COLUMNS + ROWS], -1).astype("u1")
CAPTURE, CT, DOCUMENT = ("1.2.840.10008.5.1.4.1.1." + end for end in ("7", "2", "104.1"))


def write(path: Path, pixels: numpy.ndarray | None, photometric: str = "MONOCHROME2", bits: int = 12, *,
          syntax: str = ExplicitVRLittleEndian, kind: str = CAPTURE, **fields) -> Path:
    meta, data = FileMetaDataset(), Dataset()
    meta.MediaStorageSOPClassUID, meta.MediaStorageSOPInstanceUID = kind, "1.2.3"
    meta.TransferSyntaxUID = ExplicitVRLittleEndian if syntax == RLELossless else syntax
    data.file_meta, data.SOPClassUID, data.SOPInstanceUID, data.PatientName = meta, kind, "1.2.3", "ROE^JANE"
    if pixels is not None:
        data.SamplesPerPixel = 3 if photometric == "RGB" else 1
        data.Rows, data.Columns = pixels.shape[-3:-1] if photometric == "RGB" else pixels.shape[-2:]
        if photometric == "RGB":
            data.PlanarConfiguration = 0
        data.PhotometricInterpretation, data.BitsAllocated = photometric, 8 * pixels.dtype.itemsize
        data.BitsStored, data.HighBit, data.PixelRepresentation = bits, bits - 1, int(pixels.dtype.kind == "i")
        data.PixelData = pixels.tobytes()
    for name, value in fields.items():
        setattr(data, name, value)
    if syntax == RLELossless:
        data.compress(RLELossless)
    data.save_as(path, enforce_file_format=True)
    return path


def item(**fields) -> Dataset:
    data = Dataset()
    for name, value in fields.items():
        setattr(data, name, value)
    return data


def window(center: float, width: float, **fields) -> Dataset:
    """A functional group of a window, and of a rescaling if there are fields."""
    group = item(FrameVOILUTSequence=[item(WindowCenter=center, WindowWidth=width)])
    if fields:
        group.PixelValueTransformationSequence = [item(RescaleType="US", **fields)]
    return group


def settle(data: Dataset, frame: int) -> None:
    """Puts a frame's functional groups where pydicom looks: the frame's own before those of all (PS3.3, C.7.6.16)."""
    for groups in (data.get("SharedFunctionalGroupsSequence", [])[:1], data.get("PerFrameFunctionalGroupsSequence", [])[frame:frame + 1]):
        for group in groups:
            for sequence in ("FrameVOILUTSequence", "PixelValueTransformationSequence"):
                for each in group.get(sequence, []):
                    data.update(each)


def shown(path: Path, frame: int = 0) -> numpy.ndarray:
    """As PS3.4, section N.2, has it: modality, window, inversion; 0 to 255. Without a window a range of all frames."""
    data = pydicom.dcmread(path)
    values = all_frames = data.pixel_array
    if data.SamplesPerPixel == 3:
        return values.astype(float)
    values = values[frame] if values.ndim == 3 else values
    settle(data, frame)
    if data.get("WindowWidth"):
        values = apply_voi_lut(apply_modality_lut(values, data), data).astype(float)
        least = -2 ** (data.BitsStored - 1) if data.PixelRepresentation else 0
        slope, intercept = float(data.get("RescaleSlope", 1)), float(data.get("RescaleIntercept", 0))
        least, greatest = (bound * slope + intercept for bound in (least, least + 2**data.BitsStored - 1))
    elif data.BitsStored > 8:
        least, greatest = float(all_frames.min()), float(all_frames.max())
    else:
        least, greatest = 0, 2**data.BitsStored - 1
    values = (values - least) / (greatest - least) * 255
    return 255 - values if data.PhotometricInterpretation == "MONOCHROME1" else values


class DICOM(OneSource):
    def compare(self, archive: Path, expected: numpy.ndarray, most: float = 1) -> None:
        (tile,) = self.tiles(archive).values()
        found = numpy.asarray(Image.open(io.BytesIO(tile))).astype(float)
        self.assertEqual(found.shape, expected.shape)
        self.assertLess(numpy.abs(found - expected).max(), most)

    def test_as_pydicom_reads_them(self):
        place = folder("dicom")
        window = {"WindowCenter": 1000, "WindowWidth": 1500}
        sources = [
            write(place / "window.dcm", GRAY, **window), write(place / "inverted.dcm", GRAY, "MONOCHROME1", **window),
            write(place / "ct.dcm", GRAY.astype("<i2"), bits=16, kind=CT, RescaleSlope=1, RescaleIntercept=-1024, WindowCenter=40,
                  WindowWidth=400),
            write(place / "plain.dcm", GRAY), write(place / "bytes.dcm", (GRAY // 40).astype("u1"), bits=8),
            write(place / "implicit.dcm", GRAY, syntax=ImplicitVRLittleEndian, **window),
            write(place / "rle.dcm", GRAY, syntax=RLELossless, **window), write(place / "colour.dcm", COLOUR, "RGB", 8),
            write(place / "noending", GRAY, **window)]
        for source in sources:
            with self.subTest(source.name):
                self.compare(self.built(source, "--format", "png")[1], shown(source))

    def test_values_that_a_rescaling_makes_fractions(self):
        place = folder("dicom")
        exact = {"VOILUTFunction": "LINEAR_EXACT"}
        for slope, intercept, center, width, further in (
                ("0.1", "0.5", 200, 100, {}), ("0.001", "0", 2, 3.5, {}), ("2.5", "-0.25", 4000, 3000, {}),
                ("0.000001", "0", "0.0015", "0.003", exact), ("0.01", "-3", 10, 30, exact)):
            with self.subTest(slope):
                source = write(place / "scaled.dcm", GRAY, RescaleSlope=slope, RescaleIntercept=intercept, WindowCenter=center,
                               WindowWidth=width, **further)
                self.compare(self.built(source, "--format", "png")[1], shown(source), 1.1)
        falling = write(place / "falling.dcm", GRAY, RescaleSlope="-0.05", RescaleIntercept="100.5", WindowCenter=40,
                        WindowWidth=60)
        # PS3.3, C.11.2.1.2.1.
        values = ((GRAY * -0.05 + 100.5 - 39.5) / 59 + 0.5).clip(0, 1) * 255
        self.compare(self.built(falling, "--format", "png")[1], values, 1.1)
        source = write(place / "plain.dcm", GRAY, RescaleSlope="0.001", RescaleIntercept="0")
        self.compare(self.built(source, "--format", "png")[1], shown(source), 1.1)
        self.compare(self.built(source, "--format", "png", "--window", "1.5,2.5")[1],
                     (GRAY * 0.001 - 1.5).clip(0, 1) * 255, 1.1)
        frames = numpy.stack([GRAY, GRAY // 2])
        several = write(place / "several.dcm", frames, RescaleSlope="0.37", RescaleIntercept="0", NumberOfFrames=2)
        result = run("build", several, "--library", folder("library"), "--format", "png", "--json", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)

    def test_white_of_fewer_than_8_bits(self):
        place = folder("dicom")
        for bits in (1, 2, 4, 7):
            values = ((COLUMNS // 3 + ROWS // 5) % 2**bits).astype("u1")
            for photometric in ("MONOCHROME2", "MONOCHROME1"):
                source = write(place / "few.dcm", values, photometric, bits)
                for options in ((), ("--window=full",)):
                    with self.subTest(bits=bits, photometric=photometric, options=options):
                        self.compare(self.built(source, "--format", "png", *options)[1], shown(source), 1.1)
            self.compare(self.built(write(place / "scaled.dcm", values, bits=bits, RescaleSlope=3, RescaleIntercept=-9),
                                    "--format", "png")[1], values * (255 / (2**bits - 1)), 1.1)
        bits = (COLUMNS // 3 + ROWS // 5) % 2
        packed = write(place / "packed.dcm", bits.astype("u1"), bits=1, BitsAllocated=1,
                       PixelData=numpy.packbits(bits.astype("u1").ravel(), bitorder="little").tobytes())
        self.compare(self.built(packed, "--format", "png")[1], bits * 255.0)

    def test_a_window_that_is_given(self):
        place = folder("dicom")
        scaled = write(place / "ct.dcm", GRAY.astype("<i2"), bits=16, kind=CT, RescaleSlope=1, RescaleIntercept=-1024,
                       WindowCenter=40, WindowWidth=400)
        inverted = write(place / "inverted.dcm", GRAY, "MONOCHROME1", WindowCenter=1000, WindowWidth=1500)
        values = GRAY.astype(float)
        full = {scaled: (-32768.0 - 1024, 32767.0 - 1024), inverted: (0, 4095)}
        for source, stored in ((scaled, values - 1024), (inverted, values)):
            p = numpy.percentile(stored, [2, 97.5])
            for name, (low, high) in (("-100,900", (-100, 900)), ("p2,p97.5", p), ("p2,800", (p[0], 800)),
                                      ("auto", (stored.min(), stored.max())), ("full", full[source])):
                with self.subTest(source=source.name, window=name):
                    expected = numpy.clip((stored - low) / (high - low), 0, 1) * 255
                    # As an option of one word: a number may have a sign.
                    report, archive = self.built(source, "--format", "png", f"--window={name}")
                    # Without a window DCMTK takes upper bits.
                    self.compare(archive, 255 - expected if source == inverted else expected, 1 if name != "full" else 1.1)
        report, archive = self.built(write(place / "colour.dcm", COLOUR, "RGB", 8), "--format", "png", "--window=10,20")
        self.compare(archive, COLOUR.astype(float))
        self.assertIn("ignored", " ".join(report["steps"]))
        self.assertIn("--window has windows for 2 channels", self.refused(scaled, "--window=1,2/3,4"))

    def test_pictures_of_a_slides_label_are_built_only_when_asked_for(self):
        microscopic, coordinates = (f"1.2.840.10008.5.1.4.1.1.77.1.{end}" for end in (2, 3))
        for kind, values in ((CAPTURE, ["DERIVED", "SECONDARY", "LABEL"]), (microscopic, ["ORIGINAL", "PRIMARY", "LABEL", "NONE"]),
                             (coordinates, ["ORIGINAL", "PRIMARY", "OVERVIEW", "NONE"]), (microscopic, ["ORIGINAL", "PRIMARY", "LOCALIZER"])):
            with self.subTest(kind=kind, values=values):
                source = write(folder("dicom") / "label.dcm", COLOUR, "RGB", 8, kind=kind, ImageType=values)
                self.assertRegex(self.refused(source), "holds only the (label|overview) of a slide.*--associated")
                self.compare(self.built(source, "--format", "png", "--associated")[1], COLOUR.astype(float))
        # The scout view of a CT has such a name, too.
        ordinary = {"volume": (CAPTURE, ["ORIGINAL", "PRIMARY", "VOLUME"]), "scout": (CT, ["ORIGINAL", "PRIMARY", "LOCALIZER"])}
        for name, (kind, values) in ordinary.items():
            self.built(write(folder("dicom") / f"{name}.dcm", COLOUR, "RGB", 8, kind=kind, ImageType=values))

    def test_text_that_is_burned_in_is_built_only_when_asked_for(self):
        base = folder("burned-in")
        for name, answer in (("yes", "YES"), ("no", "NO")):
            write(base / f"{name}.dcm", GRAY, BurnedInAnnotation=answer)
        self.assertIn("Burned In Annotation", self.refused(base / "yes.dcm"))
        self.built(base / "yes.dcm", "--associated")
        self.built(base / "no.dcm")

    def test_frames_are_pages(self):
        frames = numpy.stack([GRAY, GRAY[::-1], GRAY[:, ::-1]])
        source = write(folder("dicom") / "cine.dcm", frames, NumberOfFrames=3, WindowCenter=1000, WindowWidth=1500)
        _, first = self.built(source, "--format", "png")
        for frame in range(3):
            self.compare(first.parent / f"{frame + 1}.szi", shown(source, frame))

    def compare_frames(self, source: Path, count: int = 3) -> dict:
        report, first = self.built(source, "--format", "png")
        for frame in range(count):
            with self.subTest(source.name, frame=frame):
                # A whole number is expected here and there: the last bit of a sum decides.
                self.compare(first.parent / f"{frame + 1}.szi", shown(source, frame), 1.01)
        return report

    def test_windows_of_functional_groups(self):
        place, frames = folder("dicom"), numpy.stack([GRAY, GRAY // 2, GRAY // 4])
        report = self.compare_frames(write(place / "each.dcm", frames, NumberOfFrames=3, SharedFunctionalGroupsSequence=[window(9, 99)],
                                           PerFrameFunctionalGroupsSequence=[window(500 * (1 + each), 1000) for each in range(3)]))
        self.assertIn("DICOM's window taken: center 500, width 1000", report["steps"])
        self.compare_frames(write(place / "all.dcm", frames, NumberOfFrames=3, SharedFunctionalGroupsSequence=[window(2000, 3000)]))
        # The file's own is not of this frame.
        self.compare_frames(write(place / "both.dcm", frames, NumberOfFrames=3, WindowCenter=9, WindowWidth=99,
                                  SharedFunctionalGroupsSequence=[window(2000, 3000)]))
        rescaled = [window(500, 1000, RescaleSlope=1, RescaleIntercept=-100 * each) for each in range(3)]
        self.compare_frames(write(place / "rescaled.dcm", frames, NumberOfFrames=3, PerFrameFunctionalGroupsSequence=rescaled))

    def test_without_a_window_the_frames_stay_comparable(self):
        frames = numpy.stack([GRAY // 4, GRAY, GRAY // 2])
        for syntax in (ExplicitVRLittleEndian, RLELossless):
            report = self.compare_frames(write(folder("dicom") / "a.dcm", frames, NumberOfFrames=3, syntax=syntax))
            self.assertIn("DICOM without a window: from the least to the greatest value of all frames", report["steps"])

    def test_a_window_that_cannot_be_used_is_not_reported(self):
        for width in (0, -5, 0.5):
            source = write(folder("dicom") / "a.dcm", GRAY, WindowCenter=2048, WindowWidth=width)
            report, archive = self.built(source, "--format", "png")
            self.assertIn("DICOM without a window: from the least to the greatest value of the picture", report["steps"])
            self.compare(archive, (GRAY - float(GRAY.min())) / (GRAY.max() - GRAY.min()) * 255)

    def test_frames_that_are_missing_are_reported_once(self):
        place, two = folder("dicom"), numpy.stack([GRAY, GRAY // 2])
        claims = {"WindowCenter": 1000, "WindowWidth": 1500}
        # A third frame begins.
        cut = write(place / "cut.dcm", two, NumberOfFrames=2, **claims)
        data = pydicom.dcmread(cut)
        data.NumberOfFrames, data.PixelData = 5, data.PixelData + bytes(1000)
        data.save_as(cut)
        compressed = write(place / "rle.dcm", two, NumberOfFrames=2, syntax=RLELossless, **claims)
        data = pydicom.dcmread(compressed)
        data.NumberOfFrames = 5
        data.save_as(compressed)
        for source in (cut, compressed):
            library = folder("library")
            result = run("build", source, "--library", library, "--json", "--quiet", "--format", "png")
            self.assertEqual(result.returncode, 0, result.stderr)
            reports = {each["id"]: each for each in map(json.loads, result.stdout.splitlines())}
            self.assertEqual(set(reports), {f"{source.stem}/1", f"{source.stem}/2"})
            first = reports[f"{source.stem}/1"]
            self.assertEqual((first["damage"], first["reason"]),
                             ("truncated", "the DICOM file holds 2 of the 5 frames that it claims to have"))
            self.assertNotIn("damage", reports[f"{source.stem}/2"])
            data = pydicom.dcmread(source)
            for page, frame in enumerate(two, 1):
                values = apply_voi_lut(frame, data).astype(float) / 4095 * 255
                self.compare(library / f"{source.stem}/{page}.szi", values)
            self.assertIn("holds 2 of the 5 frames", self.refused(source, "--fail-on", "truncated"))

    def test_a_vast_number_of_frames_is_not_believed(self):
        for claimed in (2_000_000_000, 2**31 - 1):
            report, _ = self.built(write(folder("dicom") / "a.dcm", GRAY, NumberOfFrames=claimed))
            self.assertEqual((report["id"], report["damage"]), ("a", "truncated"))
        # Not one frame is whole.
        source = write(folder("dicom") / "a.dcm", GRAY)
        data = pydicom.dcmread(source)
        data.PixelData = data.PixelData[:1000]
        data.save_as(source)
        self.assertIn("is DICOM that is damaged or cut short", self.refused(source))

    def test_what_is_no_picture_and_what_is_not_read(self):
        place = folder("dicom")
        self.assertIn("is DICOM without a picture (EncapsulatedPDFStorage)",
                      self.refused(write(place / "a.dcm", None, kind=DOCUMENT, EncapsulatedDocument=b"%PDF")))
        whole = write(place / "whole.dcm", GRAY).read_bytes()
        (place / "cut.dcm").write_bytes(whole[:8000])
        self.assertIn("is DICOM that is damaged or cut short", self.refused(place / "cut.dcm"))
        # JPEG 2000, by its name alone: what is in it does not matter.
        (place / "j2k.dcm").write_bytes(whole.replace(b"1.2.840.10008.1.2.1\0", b"1.2.840.10008.1.2.4.90"))
        self.assertEqual(run("build", place / "j2k.dcm", "--library", folder("library")).returncode, 1)

    def test_nothing_of_the_patient_is_published(self):
        _, archive = self.built(write(folder("dicom") / "a.dcm", GRAY))
        self.assertNotIn(b"ROE", archive.read_bytes())


if __name__ == "__main__":
    unittest.main()
