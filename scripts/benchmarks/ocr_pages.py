"""Makes scanned pages whose text is known: rendered, then spoiled the way scanners, lamps and JPEG do."""

import math
import random
import sys
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageChops, ImageDraw, ImageFilter, ImageFont

PAPER = (210 / 25.4, 297 / 25.4)
TEXTS = {
    "eng": """
The library of the harbour town was open only on Tuesdays, and on every other day its keeper, Miss Hartley,
walked along the quay with a heavy bunch of keys. "Nobody asks for books when the herring are running," she
used to say, and she was right: between June and October the reading room stood empty. In 1923 the council
counted 4,817 volumes, among them 62 atlases, a set of tide tables and eleven copies of the same cookery book.
The roof leaked in three places; the bill for its repair came to £148 and 10 shillings, which was more than
the town spent on lamps in a whole year.
When the new bridge was finished, visitors came from the valley by motor-coach. They wanted maps, postcards
and quiet corners, and so the opening hours were changed at last. Johnson & Sons gave a clock; a widow gave
her husband's journals (forty of them, bound in green cloth); the vicar gave advice. Every Friday evening
somebody read aloud, usually from the newspapers, and the fishermen argued about prices until the lamps were
put out at half past nine. What remained of those evenings is a thin box of letters, a photograph with seven
people squinting into the sun, and the rule, still kept today, that no one may be asked to be silent twice.
Questions of order were settled by a small committee. It met on the first Monday of the month, wrote its
minutes in violet ink, and numbered every page. On page 317 we find the longest entry: a complaint that the
stove smoked, that the ladder was too short by about 15%, and that the dictionary had lost the letter Q.
""",
    "deu": """
Die Bücherei der kleinen Hafenstadt öffnete nur dienstags, und an allen übrigen Tagen ging Fräulein Göbel mit
einem schweren Schlüsselbund am Kai spazieren. „Wer fragt schon nach Büchern, wenn die Heringe ziehen?“, sagte
sie gern, und sie behielt recht: Zwischen Juni und Oktober blieb der Lesesaal leer. Im Jahr 1923 zählte der
Gemeinderat 4817 Bände, darunter 62 Atlanten, eine Reihe von Gezeitentafeln und elf Ausgaben desselben
Kochbuchs. Das Dach war an drei Stellen undicht; die Ausbesserung kostete 148 Mark und damit mehr, als man für
die Straßenlaternen eines ganzen Jahres ausgab.
Als die neue Brücke fertig war, kamen Gäste aus dem Tal mit dem Omnibus. Sie wünschten Landkarten,
Ansichtskarten und ruhige Ecken, und so wurden die Öffnungszeiten endlich geändert. Jäger & Söhne stifteten
eine Uhr, eine Witwe die Tagebücher ihres Mannes (vierzig an der Zahl, in grünes Leinen gebunden), der Pfarrer
gute Ratschläge. Jeden Freitagabend las jemand vor, meist aus der Zeitung, und die Fischer stritten über
Preise, bis um halb zehn die Lampen gelöscht wurden. Übrig blieb von jenen Abenden eine schmale Schachtel mit
Briefen, ein Lichtbild mit sieben Menschen, die in die Sonne blinzeln, und die Regel, die bis heute gilt: Niemand
darf zweimal um Ruhe gebeten werden.
Über Fragen der Ordnung entschied ein kleiner Ausschuss. Er tagte am ersten Montag des Monats, schrieb seine
Beschlüsse mit violetter Tinte und zählte jede Seite. Auf Seite 317 steht der längste Eintrag: eine Beschwerde
darüber, dass der Ofen qualmte, die Leiter um etwa 15 % zu kurz war und dem Wörterbuch der Buchstabe Q fehlte.
""",
    "fra": """
La bibliothèque du petit port n'ouvrait que le mardi, et les autres jours sa gardienne, mademoiselle Héloïse,
se promenait sur le quai avec un lourd trousseau de clés. « Personne ne demande de livres quand passent les
harengs », répétait-elle, et elle avait raison : de juin à octobre, la salle de lecture restait vide. En 1923, le
conseil compta 4817 volumes, dont 62 atlas, une série de tables des marées et onze exemplaires du même livre
de cuisine. Le toit fuyait à trois endroits ; la réparation coûta 148 francs, plus que la ville ne dépensait pour
ses réverbères en une année entière.
Lorsque le nouveau pont fut achevé, des visiteurs arrivèrent de la vallée en autocar. Ils voulaient des cartes, des
vues à envoyer et des coins tranquilles ; on changea donc enfin les heures d'ouverture. La maison Lefèvre offrit
une pendule, une veuve les carnets de son mari (quarante, reliés en toile verte), et le curé des conseils. Chaque
vendredi soir, quelqu'un lisait à haute voix, le plus souvent le journal, et les pêcheurs discutaient des prix
jusqu'à ce qu'on éteignît les lampes, à neuf heures et demie. Il reste de ces soirées une mince boîte de lettres,
une photographie où sept personnes clignent des yeux au soleil, et cette règle, toujours respectée : nul ne peut
être prié deux fois de se taire.
Les questions d'ordre étaient réglées par un petit comité. Il se réunissait le premier lundi du mois, rédigeait ses
procès-verbaux à l'encre violette et numérotait chaque page. À la page 317 figure la plus longue plainte : le
poêle fumait, l'échelle était trop courte d'environ 15 % et le dictionnaire avait perdu la lettre Q.
""",
    "spa": """
La biblioteca del pequeño puerto abría solamente los martes, y los demás días su encargada, la señorita Muñoz,
paseaba por el muelle con un pesado manojo de llaves. «Nadie pide libros cuando pasan los arenques», solía
decir, y tenía razón: entre junio y octubre la sala de lectura quedaba vacía. En 1923 el ayuntamiento contó
4817 volúmenes, entre ellos 62 atlas, una serie de tablas de mareas y once ejemplares del mismo libro de
cocina. El tejado tenía goteras en tres lugares; la reparación costó 148 pesetas, más de lo que el pueblo
gastaba en faroles durante todo un año.
Cuando se terminó el puente nuevo, llegaron visitantes del valle en autobús. Querían mapas, postales y rincones
tranquilos, y así cambió por fin el horario. Los hermanos Ibáñez regalaron un reloj; una viuda, los diarios de su
marido (cuarenta, encuadernados en tela verde); el párroco, consejos. Todos los viernes por la noche alguien
leía en voz alta, casi siempre el periódico, y los pescadores discutían sobre los precios hasta que se apagaban
las lámparas, a las nueve y media. ¿Qué queda de aquellas veladas? Una caja delgada con cartas, una fotografía
de siete personas que entornan los ojos al sol, y la regla, vigente todavía, de que a nadie se le puede pedir
silencio dos veces. ¡Ni siquiera al alcalde!
Las cuestiones de orden las resolvía una pequeña comisión. Se reunía el primer lunes del mes, escribía sus actas
con tinta violeta y numeraba cada página. En la página 317 está la anotación más larga: una queja porque la
estufa echaba humo, la escalera era un 15 % demasiado corta y al diccionario le faltaba la letra Q.
""",
}
FONTS = {
    "serif": "/usr/share/fonts/opentype/urw-base35/NimbusRoman-Regular.otf",
    "sans": "/usr/share/fonts/opentype/urw-base35/NimbusSans-Regular.otf",
    "book": "/usr/share/fonts/opentype/urw-base35/P052-Roman.otf",
    "dejavu": "/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf",
    "mono": "/usr/share/fonts/opentype/urw-base35/NimbusMonoPS-Regular.otf",
}


@dataclass(frozen=True)
class Page:
    """What a page looks like; everything from `skew` on spoils it."""

    name: str
    language: str
    font: str = "serif"
    points: float = 11
    dpi: int = 300
    quality: int = 90
    skew: float = 0
    blur: float = 0
    noise: float = 0
    shade: float = 0
    ink: int = 0

    @property
    def is_clean(self) -> bool:
        return not (self.skew or self.blur or self.noise or self.shade or self.ink) and self.quality >= 90 and self.dpi >= 200


PAGES = [
    Page("clean-eng", "eng"),
    Page("clean-deu", "deu", "book"),
    Page("clean-fra", "fra", "sans", 10),
    Page("clean-spa", "spa", "dejavu", 9.5),
    Page("clean-600", "eng", "book", 10, dpi=600),
    Page("clean-200", "deu", "sans", 11, dpi=200),
    Page("skew-2", "eng", skew=2, noise=8, quality=75),
    Page("skew-5", "deu", "book", skew=-5, noise=8, quality=75),
    Page("skew-10", "fra", skew=10, noise=8, quality=75),
    Page("noise", "spa", "sans", noise=45, quality=60),
    Page("blur", "eng", "book", blur=2.2, noise=6, quality=60),
    Page("shade", "deu", shade=0.75, noise=10, quality=60),
    Page("shade-skew-blur", "eng", shade=0.75, skew=3, blur=1.8, noise=14, quality=40),
    Page("shade-skew-blur-fra", "fra", "book", shade=0.7, skew=-4, blur=1.6, noise=14, quality=40),
    Page("q20", "spa", "book", quality=20, noise=6, shade=0.3),
    Page("dpi-150", "eng", "sans", dpi=150, quality=60, noise=6, skew=1),
    Page("dpi-150-shade", "deu", dpi=150, quality=75, noise=6, shade=0.6),
    Page("dpi-600", "fra", dpi=600, quality=50, noise=25, shade=0.5, skew=1.5),
    Page("faint", "spa", ink=150, noise=14, skew=-1.5, quality=60),
]


def render(page: Page) -> tuple[Image.Image, list[dict]]:
    """The page, and its words with their boxes as shares of the page's width and height: left, top, right, bottom."""
    width, height = (round(side * page.dpi) for side in PAPER)
    margin = page.dpi
    font = ImageFont.truetype(FONTS[page.font], round(page.points * page.dpi / 72))
    image = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(image)
    words, y = [], margin
    step = round(page.points * 1.35 * page.dpi / 72)
    paragraphs = paragraphs_of(page.language)
    space = font.getlength(" ")
    for paragraph in paragraphs:
        x = margin
        for word in paragraph.split():
            length = font.getlength(word)
            if x + length > width - margin:
                x, y = margin, y + step
            draw.text((round(x), y), word, fill=page.ink, font=font)
            left, top, right, bottom = draw.textbbox((round(x), y), word, font=font)
            words.append({"text": word, "box": (left / width, top / height, right / width, bottom / height)})
            x += length + space
        y += round(step * 1.6)
    return image, words


def paragraphs_of(language: str) -> list[str]:
    """A line that ends early ends a paragraph."""
    paragraphs, lines = [], []
    for line in TEXTS[language].strip().splitlines():
        lines.append(line)
        if len(line) < 90:
            paragraphs.append(" ".join(lines))
            lines = []
    return paragraphs + ([" ".join(lines)] if lines else [])


def spoil(page: Page, image: Image.Image) -> Image.Image:
    generator = random.Random(page.name)
    width, height = image.size
    scale = page.dpi / 300
    if page.skew:
        image = image.rotate(page.skew, resample=Image.BICUBIC, fillcolor=255)
    if page.blur:
        image = image.filter(ImageFilter.GaussianBlur(page.blur * scale))
    if page.shade:
        # Light from one corner, and a soft shadow across the page.
        light = Image.linear_gradient("L").rotate(generator.choice([30, 60, 120, 210]), expand=True, fillcolor=128)
        side = min(light.size) // 4
        light = light.crop((side, side, light.width - side, light.height - side)).resize((width, height), Image.BICUBIC)
        shadow = Image.new("L", (60, 84), 255)
        ImageDraw.Draw(shadow).ellipse((8, 30, 70, 70), fill=110)
        shadow = shadow.filter(ImageFilter.GaussianBlur(7)).resize((width, height), Image.BICUBIC)
        darkness = page.shade
        light = light.point(lambda value: round(255 - darkness * (255 - value)))
        image = ImageChops.multiply(ImageChops.multiply(image, light), shadow)
    if page.noise:
        image = ImageChops.add(image.point(lambda value: round(12 + value * 0.9)), Image.effect_noise((width, height), page.noise), 1, -128)
    return image


def words_where_they_are(page: Page, words: list[dict]) -> list[dict]:
    """The words' centres after the turn, as shares of the page's width and height."""
    width, height = (round(side * page.dpi) for side in PAPER)
    angle = math.radians(-page.skew)
    placed = []
    for word in words:
        left, top, right, bottom = word["box"]
        x, y = (left + right) / 2 * width - width / 2, (top + bottom) / 2 * height - height / 2
        placed.append({"text": word["text"], "centre": (
            (x * math.cos(angle) - y * math.sin(angle) + width / 2) / width,
            (x * math.sin(angle) + y * math.cos(angle) + height / 2) / height)})
    return placed


def write(folder: Path, pages: list[Page]) -> None:
    """`NAME.jpg` and `NAME.txt`, one word a line with its centre, for each page; and what they are, `pages.tsv`."""
    folder.mkdir(parents=True, exist_ok=True)
    for page in pages:
        image, words = render(page)
        spoil(page, image).save(folder / f"{page.name}.jpg", quality=page.quality, dpi=(page.dpi, page.dpi))
        lines = [f"{word['text']}\t{word['centre'][0]:.6f}\t{word['centre'][1]:.6f}" for word in words_where_they_are(page, words)]
        (folder / f"{page.name}.txt").write_text("\n".join(lines) + "\n")
    kinds = [f"{page.name}\t{page.language}\t{'clean' if page.is_clean else 'degraded'}\n" for page in pages]
    (folder / "pages.tsv").write_text("".join(kinds))


if __name__ == "__main__":
    write(Path(sys.argv[1]), PAGES)
