"""PDFs that are written by hand (ISO 32000-1)."""

import io
from pathlib import Path

from PIL import Image


def pdf(objects: list[bytes]) -> bytes:
    """A file of these objects, numbered from 1, of which the first is the catalog."""
    data, places = b"%PDF-1.4\n", []
    for number, each in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n" % number + each + b"\nendobj\n"
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    return (data + b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1) + table
            + b"trailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (len(objects) + 1, len(data)))


def labelled_pdf(count: int, catalog: str = "", objects: tuple[str, ...] = ()) -> bytes:
    """Blank pages, in roman numerals but the last (section 12.4.2); with these objects from number 3 + count."""
    kids = " ".join(f"{3 + number} 0 R" for number in range(count))
    labels = f"<< /Nums [0 << /S /r >> {count - 1} << /P (A-) /S /D >>] >>"
    bodies = [f"<< /Type /Catalog /Pages 2 0 R /PageLabels {labels} {catalog} >>",
              f"<< /Type /Pages /Count {count} /Kids [{kids}] >>",
              *["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 140] >>"] * count, *objects]
    return pdf([body.encode() for body in bodies])


def pictured_pdf(path: Path, pages: list[tuple[tuple[float, float], str, list[bytes]]]) -> Path:
    """Of each page its size in points, its operators with, behind "|", what else its dictionary says, and its JPEGs, which
    the operators call /I0, /I1, …"""
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for (width, height), (operators, more), jpegs in [(page[0], (page[1] + "|").split("|")[:2], page[2]) for page in pages]:
        names = []
        for number, jpeg in enumerate(jpegs):
            columns, rows = Image.open(io.BytesIO(jpeg)).size
            objects.append(b"<< /Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace /DeviceRGB "
                           b"/BitsPerComponent 8 /Filter /DCTDecode /Length %d >>\nstream\n" % (columns, rows, len(jpeg))
                           + jpeg + b"\nendstream")
            names.append(f"/I{number} {len(objects)} 0 R")
        objects.append(f"<< /Length {len(operators)} >>\nstream\n{operators}\nendstream".encode())
        objects.append(f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {width} {height}] {more} /Contents {len(objects)} 0 R "
                       f"/Resources << /Font << /F 3 0 R >> /XObject << {' '.join(names)} >> >> >>".encode())
        kids.append(f"{len(objects)} 0 R")
    objects[1] = f"<< /Type /Pages /Count {len(kids)} /Kids [{' '.join(kids)}] >>".encode()
    path.write_bytes(pdf(objects))
    return path
