"""PDFs that are written by hand."""


def labelled_pdf(count: int, catalog: str = "", objects: tuple[str, ...] = ()) -> bytes:
    """Blank pages, in roman numerals but the last (ISO 32000-1, section 12.4.2); with these objects from number 3 + count."""
    kids = " ".join(f"{3 + number} 0 R" for number in range(count))
    labels = f"<< /Nums [0 << /S /r >> {count - 1} << /P (A-) /S /D >>] >>"
    bodies = [f"<< /Type /Catalog /Pages 2 0 R /PageLabels {labels} {catalog} >>",
              f"<< /Type /Pages /Count {count} /Kids [{kids}] >>",
              *["<< /Type /Page /Parent 2 0 R /MediaBox [0 0 100 140] >>"] * count, *objects]
    data, places = b"%PDF-1.4\n", []
    for number, body in enumerate(bodies, 1):
        places.append(len(data))
        data += f"{number} 0 obj\n{body}\nendobj\n".encode()
    start = len(data)
    data += f"xref\n0 {len(bodies) + 1}\n0000000000 65535 f \n".encode()
    data += b"".join(b"%010d 00000 n \n" % place for place in places)
    return data + f"trailer\n<< /Size {len(bodies) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n".encode()
