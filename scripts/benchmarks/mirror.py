"""`scripts/bench mirror`: real files through the mount, beside bindfs."""

from .inputs import Inputs
from .measure import client
from .rows import Contestant, Row, Session

NATIVE = Contestant("native", None)
BINDFS = Contestant("bindfs", lambda source, mountpoint, _: ["bindfs", "-f", "-r", str(source), str(mountpoint)])


def sessions(inputs: Inputs, ours: list[Contestant]) -> list[Session]:
    contestants = [NATIVE, BINDFS, *ours]
    big, tree, flat = inputs.big(), inputs.tree(), inputs.flat()

    def session(source, *rows: Row) -> Session:
        return Session(source, source, contestants, list(rows))

    return [
        session(tree, Row("mount, first ls", mounts=True)),
        session(
            big,
            Row("cat 2 GB", lambda root, _: [["cat", f"{root}/big.bin"]]),
            Row("cat 2 GB again", lambda root, _: [["cat", f"{root}/big.bin"]]),
        ),
        session(tree, Row("find 200,000", lambda root, _: [["find", f"{root}"]])),
        session(tree, Row("ls -lR 200,000", lambda root, _: [["ls", "-lR", f"{root}"]])),
        session(
            tree, Row("cp -r 200,000", lambda root, copies: [["cp", "-r", f"{root}/.", f"{copies}/tree"]])
        ),
        session(flat, Row("find -type f 100,000 in one", lambda root, _: [["find", f"{root}", "-type", "f"]])),
        session(tree, Row("stat, each", lambda root, _: client("stat", tree, root, 20_000), unit="µs")),
    ]
