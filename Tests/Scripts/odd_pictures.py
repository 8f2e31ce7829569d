#!/usr/bin/env python3
"""Pictures of kinds that libraries read wrongly or not at all.

make FOLDER: writes them into FOLDER, and the pixels that each has into FOLDER/../expected.
check FOLDER MOUNT: compares the PNG that the mount makes of each with those; prints what differs, and how many are right.
"""
import io, os, struct, sys, zlib
from PIL import Image

W, H = 37, 23
base = Image.new("RGBA", (W, H))
base.putdata([((x * 7) % 256, (y * 11) % 256, (x * y) % 256, 255 - (x * 5 + y * 3) % 200) for y in range(H) for x in range(W)])
rgb = base.convert("RGB")
gray = rgb.convert("L")
shaded = Image.merge("LA", (gray, base.getchannel("A")))
colours = list(base.getdata())
red_to_alpha = lambda order: b"".join(bytes(p["rgba".index(c)] if c in "rgba" else 0 for c in order) for p in colours)
made = {}

def add(name, data, picture):
    made[name] = (data, picture.convert("RGBA"))

def dds(name, picture, bits, masks, flags, data, number=None):
    head = struct.pack("<4sIIIIIII44x", b"DDS ", 124, 0x100F, H, W, W * bits // 8, 0, 0)
    code = b"DX10" if number else bytes(4)
    head += struct.pack("<II4sIIIII", 32, flags, code, bits, *masks) + struct.pack("<IIIII", 0x1000, 0, 0, 0, 0)
    add(name, head + (struct.pack("<IIIII", number, 3, 0, 1, 0) if number else b"") + data, picture)

def surfaces():
    orders = {"bgra": (0xFF0000, 0xFF00, 0xFF, 0xFF000000), "rgba": (0xFF, 0xFF00, 0xFF0000, 0xFF000000),
              "argb": (0xFF00, 0xFF0000, 0xFF000000, 0xFF), "abgr": (0xFF000000, 0xFF0000, 0xFF00, 0xFF)}
    for order, masks in orders.items():
        dds(f"{order}.dds", base, 32, masks, 0x41, red_to_alpha(order))
        dds(f"{order.replace('a', 'x')}.dds", rgb, 32, masks[:3] + (0,), 0x40, red_to_alpha(order.replace("a", "x")))
    dds("bgr.dds", rgb, 24, (0xFF0000, 0xFF00, 0xFF, 0), 0x40, red_to_alpha("bgr"))
    dds("rgb.dds", rgb, 24, (0xFF, 0xFF00, 0xFF0000, 0), 0x40, red_to_alpha("rgb"))
    pairs = b"".join(bytes(p) for p in shaded.getdata())
    dds("l8.dds", gray, 8, (0xFF, 0, 0, 0), 0x20000, bytes(gray.getdata()))
    dds("la8.dds", shaded, 16, (0xFF, 0, 0, 0xFF00), 0x20001, pairs)
    # As Pillow wrote them before version 10.
    dds("l-pillow.dds", gray, 24, (0xFF0000, 0xFF00, 0xFF, 0), 0x20000, bytes(gray.getdata()))
    dds("la-pillow.dds", shaded, 32, (0xFF0000, 0xFF00, 0xFF, 0xFF000000), 0x20001, pairs)
    scale = lambda value, bits: ((value >> 8 - bits) * 255 + (1 << bits - 1) - 1) // ((1 << bits) - 1)
    for name, (r, g, b, a) in {"565": (5, 6, 5, 0), "1555": (5, 5, 5, 1), "4444": (4, 4, 4, 4)}.items():
        sizes, places = (b, g, r, a), (0, b, b + g, b + g + r)
        masks = [((1 << size) - 1) << place for size, place in zip(sizes, places)]
        words = b"".join(struct.pack("<H", sum(v >> 8 - s << p for v, s, p in zip((q[2], q[1], q[0], q[3]), sizes, places) if s)) for q in colours)
        shown = Image.new("RGBA", (W, H))
        shown.putdata([(scale(q[0], r), scale(q[1], g), scale(q[2], b), scale(q[3], a) if a else 255) for q in colours])
        dds(f"{name}.dds", shown, 16, (masks[2], masks[1], masks[0], masks[3] if a else 0), 0x41 if a else 0x40, words)
    dds("dx10-rgba.dds", base, 0, (0, 0, 0, 0), 4, red_to_alpha("rgba"), 28)
    dds("dx10-bgra.dds", base, 0, (0, 0, 0, 0), 4, red_to_alpha("bgra"), 87)
    dds("dx10-bgrx.dds", rgb, 0, (0, 0, 0, 0), 4, red_to_alpha("bgrx"), 88)
    dds("dx10-r8.dds", gray, 0, (0, 0, 0, 0), 4, bytes(gray.getdata()), 61)

def targas():
    for mode, picture in (("l", gray), ("la", shaded), ("rgb", rgb), ("rgba", base), ("p", rgb.quantize(200))):
        for packing in ("", "tga_rle"):
            for orientation in (1, -1):
                file = io.BytesIO()
                picture.save(file, "TGA", compression=packing or None, orientation=orientation)
                add(f"{mode}{packing and '-rle'}{'-down' if orientation < 0 else ''}.tga", file.getvalue(), picture)
    file = io.BytesIO()
    gray.convert("1").save(file, "TGA")
    add("one.tga", file.getvalue(), gray.convert("1"))
    data = b"".join(bytes(p) for p in shaded.transpose(Image.FLIP_LEFT_RIGHT).getdata())
    head = lambda length, map, count: struct.pack("<BBBHHBHHHHBB", length, map, 3, 0, count, 24 if map else 0, 0, 0, W, H, 16, 0x38)
    add("la-left.tga", head(5, 1, 2) + b"words" + bytes(6) + data, shaded)

def quiteOK():
    few = [((0, 0, 0, 0), (0, 0, 0, 255), (255, 0, 0, 255), (1, 2, 3, 4), (0, 0, 0, 0), (0, 0, 0, 255))[(x * x + y) % 6] for y in range(H) for x in range(W)]
    runs = (([(0, 0, 0, 255)] * 3 + [(9, 9, 9, 255), (0, 0, 0, 255), (7, 7, 7, 7)]) * W * H)[: W * H]
    long = ([(10, 20, 30, 255)] * 100 + [(200, 100, 50, 255), (10, 20, 30, 255)]) * 9
    near = [(100 + x % 3, 100 + y % 2, 99 - x % 2, 255) for y in range(H) for x in range(W)]
    cases = {"all": colours, "few": few, "runs": runs, "long": long[: W * H], "near": near, "clear": [(0, 0, 0, 0)] * (W * H),
             "mixed": [few[i] if i % 3 else colours[i] for i in range(W * H)]}
    for name, pixels in cases.items():
        for bands in (3, 4):
            own = [p if bands == 4 else p[:3] + (255,) for p in pixels]
            file, seen, last, run = bytearray(b"qoif" + struct.pack(">IIBB", W, H, bands, 0)), [(0, 0, 0, 0)] * 64, (0, 0, 0, 255), 0
            for index, pixel in enumerate(own):
                if pixel == last:
                    run += 1
                    if run == 62 or index == len(own) - 1:
                        file.append(0xC0 | run - 1)
                        run = 0
                    continue
                if run: file.append(0xC0 | run - 1)
                run, place = 0, (pixel[0] * 3 + pixel[1] * 5 + pixel[2] * 7 + pixel[3] * 11) % 64
                step = [(pixel[k] - last[k] + 128) % 256 - 128 for k in range(3)]
                if seen[place] == pixel: file.append(place)
                elif pixel[3] != last[3]: file += bytes((0xFF,) + pixel)
                elif all(-2 <= s <= 1 for s in step): file.append(0x40 | step[0] + 2 << 4 | step[1] + 2 << 2 | step[2] + 2)
                elif -32 <= step[1] <= 31 and all(-8 <= step[k] - step[1] <= 7 for k in (0, 2)):
                    file += bytes((0x80 | step[1] + 32, step[0] - step[1] + 8 << 4 | step[2] - step[1] + 8))
                else: file += bytes((0xFE,) + pixel[:3])
                seen[place], last = pixel, pixel
            shown = Image.new("RGBA", (W, H))
            shown.putdata(own)
            add(f"{name}{bands}.qoi", bytes(file) + bytes(7) + b"\1", shown)

def planes():
    flipped = gray.transpose(Image.FLIP_TOP_BOTTOM)
    # The darkest and the brightest pixel are black and white.
    flipped.putpixel((0, 0), 0)
    flipped.putpixel((1, 0), 255)
    values, shown = list(flipped.getdata()), flipped.transpose(Image.FLIP_TOP_BOTTOM)
    for axes in ((W, H), (W, H, 1), (W, H, 2), (W, H, 3), (W, H, 5), (W, H, 1, 1), (W, H, 2, 3)):
        for kind, form, factor in ((8, "B", 1), (16, ">h", 100), (32, ">i", 100000), (-32, ">f", 1), (-64, ">d", .5)):
            cards = ["SIMPLE  =" + "T".rjust(21), "BITPIX  =" + str(kind).rjust(21), "NAXIS   =" + str(len(axes)).rjust(21)]
            cards += [f"NAXIS{i + 1}  =" + f"{axis} / sides".rjust(21) for i, axis in enumerate(axes)] + ["END"]
            head = "".join(card.ljust(80) for card in cards).encode()
            plane = b"".join(struct.pack(form, type(factor)(v * factor) if kind < 0 else v * factor) for v in values)
            data = plane
            for axis in axes[2:]: data *= axis
            fill = lambda bytes, by: bytes + by * (-len(bytes) % 2880)
            add(f"{'x'.join(map(str, axes[2:])) or 'one'}_{kind}.fits", fill(head, b" ") + fill(data, b"\0"), shown)

def tiffs():
    for mode, picture in (("l", gray), ("one", gray.convert("1")), ("rgb", rgb), ("p", rgb.quantize(16))):
        file = io.BytesIO()
        picture.save(file, "TIFF")
        data = bytearray(file.getvalue())
        place, = struct.unpack_from("<I", data, 4)
        count, = struct.unpack_from("<H", data, place)
        entries = [bytes(data[place + 2 + 12 * i : place + 14 + 12 * i]) for i in range(count)]
        left = [entry for entry in entries if entry[:2] != b"\x06\1"]
        data[place : place + 2 + 12 * len(left) + 4] = struct.pack("<H", len(left)) + b"".join(left) + bytes(4)
        shown = picture.convert("RGBA")
        # White is 0 where nothing says so, as in Pillow.
        if mode in ("l", "one"): shown = Image.eval(picture.convert("L"), lambda v: 255 - v)
        add(f"unsaid-{mode}.tif", bytes(data), shown)

def bitmaps():
    for mode, picture in (("rgb", rgb), ("p", rgb.quantize(200)), ("p16", rgb.quantize(16)), ("one", gray.convert("1")), ("l", gray)):
        file = io.BytesIO()
        picture.save(file, "DIB")
        add(f"{mode}.dib", file.getvalue(), picture)
        file = io.BytesIO()
        picture.save(file, "BMP")
        add(f"whole-{mode}.dib", file.getvalue(), picture)

def icons():
    for bits, picture in ((32, base.resize((32, 32))), (24, rgb.resize((32, 32)))):
        file = io.BytesIO()
        picture.save(file, "ICO", sizes=[(32, 32)], bitmap_format="bmp")
        data = file.getvalue()
        reference = Image.open(io.BytesIO(data)).convert("RGBA")
        size, = struct.unpack_from("<I", data, 14)
        for name, said in (("right", size), ("few", size // 2), ("none", 0), ("many", size * 3), ("most", 0xFFFFFFF0)):
            changed = bytearray(data)
            struct.pack_into("<I", changed, 14, said)
            add(f"{bits}-{name}.ico", bytes(changed), reference)
    file = io.BytesIO()
    base.resize((32, 32)).save(file, "ICO", sizes=[(32, 32)])
    for said in (100, 0x7FFFFFFF):
        changed = bytearray(file.getvalue())
        struct.pack_into("<I", changed, 14, said)
        add(f"png-{said}.ico", bytes(changed), Image.open(io.BytesIO(file.getvalue())))

def turned():
    ways = {1: None, 2: Image.FLIP_LEFT_RIGHT, 3: Image.ROTATE_180, 4: Image.FLIP_TOP_BOTTOM, 5: Image.TRANSPOSE, 6: Image.ROTATE_270, 7: Image.TRANSVERSE, 8: Image.ROTATE_90}
    file = io.BytesIO()
    rgb.save(file, "PNG")
    plain = file.getvalue()
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    for way, turn in ways.items():
        shown = rgb if turn is None else rgb.transpose(turn)
        order, mark = ((">", b"MM"), ("<", b"II"))[way % 2]
        # Zeros make the digits of long data shorter than the data.
        for length in (0, 3000):
            exif = b"Exif\0\0" + mark + struct.pack(order + "HIHHHIHHI", 42, 8, 1, 0x112, 3, 1, way, 0, 0) + bytes(length)
            digits = exif.hex()
            lines = "\n".join(digits[i : i + 72] for i in range(0, len(digits), 72))
            text = f"\nexif\n{len(exif):8}\n{lines}\n".encode()
            key = b"Raw profile type exif\0"
            for kind, data in ((b"tEXt", key + text), (b"zTXt", key + b"\0" + zlib.compress(text, 9)), (b"iTXt", key + b"\1\0\0\0" + zlib.compress(text, 9))):
                name = f"{kind.decode()}-{way}-{length}.png"
                add(name, plain[:33] + chunk(kind, data) + plain[33:], shown)
                add("late-" + name, plain[:-12] + chunk(kind, data) + plain[-12:], shown)
    # Data in both are those of the chunk.
    exif = b"II" + struct.pack("<HIHHHIHHI", 42, 8, 1, 0x112, 3, 1, 3, 0, 0)
    add("both.png", plain[:33] + chunk(b"eXIf", exif) + chunk(b"tEXt", key + text) + plain[33:], rgb.transpose(Image.ROTATE_180))
    add("late-both.png", plain[:-12] + chunk(b"eXIf", exif) + chunk(b"tEXt", key + text) + plain[-12:], rgb.transpose(Image.ROTATE_180))
    add("odd.png", plain[:33] + chunk(b"tEXt", key + b"\nexif\n 99999999\n4949") + plain[33:], rgb)

def anymaps():
    for most in (1, 3, 15, 100, 255, 1000, 65535):
        for kind, picture in (("GRAYSCALE", gray), ("GRAYSCALE_ALPHA", shaded), ("RGB", rgb), ("RGB_ALPHA", base)):
            bands = len(picture.getbands())
            values = [v * most // 255 for p in picture.getdata() for v in (p if bands > 1 else (p,))]
            head = f"P7\nWIDTH {W}\n# sides\nHEIGHT {H}\nDEPTH {bands}\nMAXVAL {most}\nTUPLTYPE {kind}\nENDHDR\n".encode()
            shown = Image.frombytes(picture.mode, (W, H), bytes((v * 255 + most // 2) // most for v in values))
            add(f"{kind}-{most}.pam", head + b"".join(struct.pack(">H" if most > 255 else "B", v) for v in values), shown)

def named():
    shown = Image.new("RGB", (101, 2))
    shown.putdata([((i % 101 * 255 + 50) // 100,) * 3 for i in range(202)])
    keys = [chr(48 + i // 10) + chr(97 + i % 10) for i in range(101)]
    lines = [f"101 2 101 2"] + [f"{key}\tc {('gray', 'grey', 'Gray')[i % 3]}{i}" for i, key in enumerate(keys)] + ["".join(keys)] * 2
    text = "/* XPM */\nstatic char *gray1[] = {\n" + ",\n".join(f'"{line}"' for line in lines) + "\n};\n"
    add("grays.xpm", text.encode(), shown)

def packed():
    for bits in (1, 2, 4):
        for kind, picture in ((2, rgb), (2, base), (1, shaded), (0, shaded)):
            bands, top = len(picture.getbands()), (1 << bits) - 1
            rows, values = b"", []
            for y in range(H):
                row = [picture.getpixel((x, y))[band] * top // 255 for x in range(W) for band in range(bands)]
                values += row
                digits = "".join(format(top - v if kind == 0 and i % bands == 0 else v, f"0{bits}b") for i, v in enumerate(row))
                rows += int(digits.ljust((len(digits) + 7) // 8 * 8, "0"), 2).to_bytes((len(digits) + 7) // 8, "big")
            extra = bands in (2, 4)
            many = lambda number: struct.pack("<" + "H" * bands, *[number] * bands)
            tags = [(256, 3, 1, W), (257, 3, 1, H), (258, 3, bands, None), (259, 3, 1, 1), (262, 3, 1, kind), (273, 4, 1, 8),
                    (277, 3, 1, bands), (278, 3, 1, H), (279, 4, 1, len(rows))] + ([(338, 3, 1, 2)] if extra else [])
            place = 8 + len(rows) + len(rows) % 2
            end = place + 2 + 12 * len(tags) + 4
            data = b"II" + struct.pack("<HI", 42, place) + rows + bytes(len(rows) % 2) + struct.pack("<H", len(tags))
            for tag, form, count, value in tags:
                if value is None: value = end if count > 2 else bits | bits << 16
                data += struct.pack("<HHII", tag, form, count, value)
            shown = Image.frombytes(picture.mode, (W, H), bytes(v * 255 // top for v in values))
            add(f"{bits}-{kind}-{bands}.tif", data + bytes(4) + many(bits), shown)
    for white, name in ((0, "shaded-inverted.tif"), (1, "shaded.tif")):
        file = io.BytesIO()
        shaded.save(file, "TIFF")
        data = bytearray(file.getvalue())
        place = data.index(struct.pack("<HHIH", 262, 3, 1, 1))
        data[place + 8] = white
        shown = shaded if white else Image.merge("LA", (Image.eval(gray, lambda v: 255 - v), base.getchannel("A")))
        add(name, bytes(data), shown)

def wavelets():
    for mode, picture in (("l", gray), ("la", shaded), ("rgb", rgb), ("rgba", base)):
        for ending in ("jp2", "j2k"):
            file = io.BytesIO()
            picture.save(file, "JPEG2000", no_jp2=ending == "j2k")
            add(f"{mode}.{ending}", file.getvalue(), picture)

if sys.argv[1] == "make":
    for make in (surfaces, targas, quiteOK, planes, tiffs, bitmaps, icons, turned, anymaps, named, packed, wavelets): make()
    os.makedirs(sys.argv[2] + "/../expected")
    for name, (data, picture) in made.items():
        open(f"{sys.argv[2]}/{name}", "wb").write(data)
        picture.save(f"{sys.argv[2]}/../expected/{name}.png")
else:
    right = 0
    for name in sorted(os.listdir(sys.argv[2])):
        wanted = Image.open(f"{sys.argv[2]}/../expected/{name}.png").convert("RGBA")
        try:
            found = Image.open(io.BytesIO(open(f"{sys.argv[3]}/{name}.as-png", "rb").read()))
            # Gray of 16 bits.
            if found.mode.startswith("I"): found = found.convert("I").point(lambda v: v * (1 / 257) + .5).convert("L")
            found = found.convert("RGBA")
        except OSError as error:
            print(name, error.strerror or error)
            continue
        if found.size != wanted.size:
            print(name, "has", found.size, "instead of", wanted.size)
            continue
        worst = max((max(abs(a - b) for a, b in zip(p, q)), i, p, q) for i, (p, q) in enumerate(zip(found.getdata(), wanted.getdata())) if p[3] or q[3]) if any(p[3] for p in wanted.getdata()) or any(p[3] for p in found.getdata()) else (0,)
        # Rounding.
        if worst[0] > 1: print(name, "is", worst[2], "instead of", worst[3], "at", worst[1])
        else: right += 1
    print("right:", right)
