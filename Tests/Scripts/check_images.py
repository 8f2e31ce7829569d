"""check_images.py FFCONVERT FOLDER: every image of the corpus becomes an image, a small one or a PDF, in turns, or fails
with a sentence, and the 16 with an orientation are upright, beside Pillow's idea of them: each as JPEG, and in one
of the other formats and turns. Without FFMOUNT_TEST_FULL only every third image, and one result of each. With it all."""
import glob
import io
import os
import subprocess
import sys
import tempfile

from PIL import Image, ImageChops, ImageOps, ImageStat

from worker import Worker

program, folder = sys.argv[1:]
wrong = 0
worker = Worker(program)


def difference(one, other):
    """The mean over all channels of an eighth of the size, which shows what is turned as well; other sizes are infinitely
    far."""
    if one.size != other.size:
        return float("inf")
    one, other = (image.convert("RGB").reduce(8) for image in (one, other))
    return sum(ImageStat.Stat(ImageChops.difference(one, other)).mean) / 3


def picture(made, kind):
    if kind not in ("heic", "avif", "pdf"):
        return Image.open(io.BytesIO(made))
    with tempfile.TemporaryDirectory() as place:
        source, shown = f"{place}/image.{kind}", f"{place}/image.png"
        with open(source, "wb") as out:
            out.write(made)
        if kind == "pdf":
            subprocess.run(["qpdf", "--check", source], check=True, stdout=subprocess.DEVNULL)
            shown = f"{place}/image.ppm"
            subprocess.run(["pdftoppm", "-r", "96", "-singlefile", source, shown[:-4]], check=True)
        else:
            subprocess.run(["vips", "copy", source, f"{shown}[compression=0]"], check=True)
        return Image.open(shown).copy()


for number, file in enumerate(sorted(glob.glob(f"{folder}/exif-orientation/*.jpg"))):
    upright = ImageOps.exif_transpose(Image.open(file))
    half = upright.resize(((upright.width + 1) // 2, (upright.height + 1) // 2), Image.LANCZOS)
    wanted = [
        ("jpeg ", upright), ("png ", upright), ("webp ", upright), ("tiff ", upright), ("heic ", upright),
        ("jp2 ", upright), ("pdf gray", upright.convert("L")), ("jpeg rot90", upright.rotate(-90, expand=True)),
        ("png noexif", upright), ("jpeg 50%", half),
    ]
    in_turn = wanted[1 + number % (len(wanted) - 1)]
    for recipe, expected in wanted if os.environ.get("FFMOUNT_TEST_FULL") else [wanted[0], in_turn]:
        failure, _, reason, made = worker.ask(file, recipe)
        if failure:
            print(f"{file} {recipe}: {reason}")
            wrong += 1
            continue
        image = picture(made, recipe.split()[0])
        if recipe.startswith("pdf"):
            image = image.resize(expected.size)
        far = difference(expected, image)
        if far > 8 or image.getexif().get(0x112, 1) != 1:
            print(f"{file} {recipe}: {far:.1f} from upright, orientation {image.getexif().get(0x112)}")
            wrong += 1

done = refused = 0
for number, file in enumerate(sorted(glob.glob(f"{folder}/*/*.*"))):
    if file.endswith(".markdown") or number % 3 and not os.environ.get("FFMOUNT_TEST_FULL"):
        continue
    recipes = ("jpeg ", "png 64px", "pdf 100px")
    for recipe in recipes if os.environ.get("FFMOUNT_TEST_FULL") else recipes[number // 3 % 3 :][:1]:
        failure, _, reason, made = worker.ask(file, recipe)
        if failure and not reason:
            print(f"{file} {recipe}: fails without a sentence")
            wrong += 1
        done += failure == 0
        refused += failure != 0
print(f"{done} made, {refused} refused, {wrong} wrong")
sys.exit(worker.close() or wrong > 0 or done < 9 * refused)
