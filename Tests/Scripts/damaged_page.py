"""damaged_page.py FILE: writes a PDF of three pages, the second of which is a number."""
import sys
objects = ["<< /Type /Catalog /Pages 2 0 R >>", "<< /Type /Pages /Count 3 /Kids [3 0 R 4 0 R 5 0 R] >>"]
page = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 200 200] /Contents %d 0 R /Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>"
objects += [page % 6, "17", page % 7]
for word in ["first", "third"]:
    text = f"BT /F 20 Tf 20 100 Td ({word}) Tj ET"
    objects.append(f"<< /Length {len(text)} >>\nstream\n{text}\nendstream")
out, offsets = "%PDF-1.4\n", []
for number, body in enumerate(objects, 1):
    offsets.append(len(out)); out += f"{number} 0 obj\n{body}\nendobj\n"
start = len(out)
out += f"xref\n0 {len(objects) + 1}\n0000000000 65535 f \n" + "".join(f"{o:010} 00000 n \n" for o in offsets)
out += f"trailer << /Size {len(objects) + 1} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n"
open(sys.argv[1], "w").write(out)
