"""Makes receipts on this CPU and verifies them on those that QEMU emulates: the demo network, and models that are named.
Exit code 1 when a receipt of a guaranteed model is not the same somewhere."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

import click
import onnxruntime_ep_exact as exact
from onnxruntime_ep_exact import demo

sys.path.insert(0, str(Path(__file__).parent))
from cross_cpu import CACHE
from crosscpu import arm64, cpus

#: Runs there: onnxruntime, NumPy and our package are all it needs.
VERIFY = """
import json, sys
import onnxruntime_ep_exact as exact
for path in sys.argv[1:]:
    try:
        found = exact.verify(path)
        about = found.receipt.made_with
        print(json.dumps([found.same, f"{about['architecture']} {about['isa']}", ", ".join(found.different)]), flush=True)
    except Exception as error:
        print(json.dumps([False, "", f"{type(error).__name__}: {error}"]), flush=True)
"""


def make(path: Path, target: Path, dims: dict[str, int]) -> bool:
    """Writes a receipt of drawn inputs; whether the model is guaranteed."""
    made = exact.digest(path, random=1, dims=dims)
    made.save(target)
    click.echo(f"{path.name}: {made.audit['verdict']}; result {made.result}")
    return made.audit["guaranteed"]


@click.command(help=__doc__)
@click.argument("models", nargs=-1, type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--dim", "dims", multiple=True, metavar="NAME=SIZE", help="As for ort-exact digest, for every model.")
@click.option("--cpus", "names", default="neoverse-n1,Nehalem", show_default=True, help="As for cross_cpu.py.")
@click.option("--root", type=click.Path(path_type=Path), default=CACHE / "arm64", show_default=True, help="The arm64 root.")
def main(models: tuple[Path, ...], dims: tuple[str, ...], names: str, root: Path) -> None:
    """The command line."""
    sizes = {name: int(size) for name, size in (text.rsplit("=", 1) for text in dims)}
    chosen, root = names.split(","), root.absolute()
    cpus.need(chosen)
    if set(chosen) & set(cpus.ARM):
        arm64.prepare(root)
    failed = False
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "demo.onnx").write_bytes(demo.model())
        paths = [Path(folder) / "demo.onnx", *(model.absolute() for model in models)]
        receipts = [Path(folder) / f"{number}.json" for number in range(len(paths))]
        guaranteed = [make(*pair, sizes) for pair in zip(paths, receipts, strict=True)]
        for cpu in chosen:
            command = [*cpus.start(cpu, root), "-c", VERIFY, *map(str, receipts)]
            done = subprocess.run(command, capture_output=True, text=True, env=cpus.environment(), check=False)
            if done.returncode:
                raise click.ClickException(f"{cpu}: exit code {done.returncode}\n{done.stderr[-2000:]}")
            rows = [json.loads(line) for line in done.stdout.splitlines()]
            for path, promised, (same, where, text) in zip(paths, guaranteed, rows, strict=True):
                click.echo(f"{cpu} ({where}) {path.name}: {'same' if same else 'different: ' + text}")
                failed |= promised and not same
    raise SystemExit(1 if failed else 0)


if __name__ == "__main__":
    main()
