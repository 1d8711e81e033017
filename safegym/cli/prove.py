"""`safegym prove`: prove a property of a policy over a whole region, or find where it fails."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from safegym.cli.console import Exit, err, out, print_json, shown, working
from safegym.cli.prove_asked import Asked, fields_of, policy_of, property_of, region_of
from safegym.cli.prove_show import EXITS, progress, report_json, show, show_checked
from safegym.errors import SafegymError

if TYPE_CHECKING:
    from safegym.check.neural.problem import Semantics
    from safegym.check.neural.proof import Proof

_SEMANTICS = {
    "deployed float32": "deployed float32",
    "float32": "deployed float32",
    "real": "real",
}


def prove(
    policy: Annotated[
        str | None,
        typer.Option(help="Frozen policy folder, or an SB3 .zip with --trust-pickle."),
    ] = None,
    onnx: Annotated[Path | None, typer.Option(help="A network in an ONNX file.")] = None,
    vnnlib: Annotated[
        Path | None, typer.Option(help="A property in a VNN-LIB file (with --onnx).")
    ] = None,
    formula: Annotated[
        str | None,
        typer.Option(
            "--formula", "-f", help='Text over obs[i] and action[i]: "abs(action[0]) <= 1".'
        ),
    ] = None,
    claim: Annotated[
        str | None, typer.Option(help="A claim: FILE.json, or an id with --scenario.")
    ] = None,
    scenario: Annotated[
        str | None, typer.Option(help="Scenario whose ready policy or claim is meant.")
    ] = None,
    region: Annotated[
        list[str] | None,
        typer.Option(
            "--region",
            "-r",
            help='"obs[0]=-0.1..0.1", "obs[0]=0", "obs[0] + obs[1] <= 1", or FILE.json; '
            "repeatable. Else the observation space.",
        ),
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option("--field", help='Name an entry: "speed=obs[1]".')
    ] = None,
    never_saturates: Annotated[
        bool, typer.Option("--never-saturates", help="The action stays inside its limits.")
    ] = False,
    never_chooses: Annotated[
        int | None, typer.Option(help="The policy never takes this choice.", min=0)
    ] = None,
    robust_at: Annotated[
        str | None, typer.Option(help="Observation around which the action is to stay: 0,0.1,0.")
    ] = None,
    epsilon: Annotated[str | None, typer.Option(help="Radius of --robust-at.")] = None,
    delta: Annotated[
        float | None, typer.Option(help="By less than what an action may change.")
    ] = None,
    monotone: Annotated[
        str | None, typer.Option(help='"obs[0]:action[1]": the action does not fall as it rises.')
    ] = None,
    tolerance: Annotated[
        float | None, typer.Option(help="By less than what it may fall, > 0.")
    ] = None,
    decreasing: Annotated[
        bool, typer.Option("--decreasing", help="With --monotone: does not rise.")
    ] = False,
    timeout: Annotated[float, typer.Option(help="Limit of the search, in seconds.")] = 60.0,
    boxes: Annotated[int | None, typer.Option(help="Most boxes of the search.", min=1)] = None,
    semantics: Annotated[
        str, typer.Option(help="float32 (as deployed), or real (exact arithmetic).")
    ] = "float32",
    workers: Annotated[int, typer.Option(help="Processes.", min=1)] = 1,
    certificate: Annotated[
        Path | None, typer.Option(help="New folder for a certificate, checked at once.")
    ] = None,
    to: Annotated[
        Path | None,
        typer.Option(
            "--out", help="New folder: an audit trail of the proof, with its certificate."
        ),
    ] = None,
    check_certificate: Annotated[
        Path | None, typer.Option(help="Check this certificate, and do nothing else.")
    ] = None,
    second_opinion: Annotated[
        str | None, typer.Option(help="Ask another solver too: marabou or cvc5.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Draw what was proved, violated and open, as .svg.")
    ] = None,
    over: Annotated[
        str | None, typer.Option(help='The one or two inputs of --plot: "obs[0],obs[2]".')
    ] = None,
    trust_pickle: Annotated[
        bool, typer.Option("--trust-pickle", help="Allow a pickled SB3 .zip; it can run code.")
    ] = False,
    algorithm: Annotated[str, typer.Option(help="Algorithm of an SB3 .zip.")] = "ppo",
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
) -> None:
    """Prove that a policy keeps a property on EVERY observation of a region, or show where not.

    Exits 0 when it is proved, 1 when the deployed policy violates it, 3 when neither is known.
    """
    if check_certificate is not None:
        _check(check_certificate, as_json)
    _check_drawing(plot, over)
    asked = Asked(
        formula,
        claim,
        scenario,
        never_saturates,
        never_chooses,
        robust_at,
        epsilon,
        delta,
        monotone,
        tolerance,
        decreasing,
    )
    if semantics not in _SEMANTICS:
        raise SafegymError(f"--semantics is float32 or real, not {semantics!r:.40}.")
    options: dict[str, Any] = {
        "timeout": timeout,
        "boxes": boxes,
        "semantics": cast("Semantics", _SEMANTICS[semantics]),
        "workers": workers,
        "certificate": certificate,
        "second_opinion": second_opinion,
        "keep_tree": plot is not None,
    }
    if to is not None:
        options["certificate"] = _trail(to, certificate, onnx)
    with progress(timeout, hidden=as_json) as (hear, begin):
        options |= {"listener": hear, "stage": begin}
        if vnnlib is not None:
            _refuse_beside_vnnlib(asked, onnx, policy, region, field)
            proof = _vnnlib(cast("Path", onnx), vnnlib, options)
        else:
            wanted = property_of(asked)
            limits, named = region_of(region or []), fields_of(field or [])
            source = _source(policy, onnx, scenario, trust_pickle, algorithm)
            if over is not None:
                source = _with_inputs(source, named, over)
            proof = _prove(source, wanted, limits, named, options)
            if to is not None:
                _log(to, proof, source, wanted, named)
    if plot is not None:
        _draw(proof, plot, over)
    if as_json:
        print_json(proof.to_json())
    else:
        show(proof)
        if to is not None:
            out.print(f"audit trail  {shown(to)}", soft_wrap=True)
            out.print(f"check it     safegym audit verify {shown(to)}", soft_wrap=True)
    raise typer.Exit(EXITS[proof.result])


def _source(
    policy: str | None,
    onnx: Path | None,
    scenario: str | None,
    trust_pickle: bool,
    algorithm: str,
) -> Any:
    if (policy is None) == (onnx is None):
        raise SafegymError(
            "Name one policy: --policy FOLDER, or --onnx NET. For example: safegym prove --policy "
            'runs/a/policies/1f2e --formula "abs(action[0]) <= 1" --region "obs[0]=-1..1".'
        )
    if policy is not None:
        return policy_of(policy, scenario, trust_pickle=trust_pickle, algorithm=algorithm)
    from safegym.check.neural.importing import onnx_graph

    return onnx_graph(cast("Path", onnx))


def _trail(to: Path, certificate: Path | None, onnx: Path | None) -> Path:
    """The folder of the certificate inside a new audit trail."""
    from safegym.gate.proof_log import CERTIFICATE, proof_folder

    if certificate is not None:
        raise SafegymError(
            f"--out {to} holds the certificate too (in {to / CERTIFICATE}); leave --certificate."
        )
    if onnx is not None:
        raise SafegymError(
            "An audit trail keeps a frozen policy, which --onnx is not; name the policy that the "
            "network was made from (--policy FOLDER), or keep the proof as --certificate FOLDER."
        )
    return proof_folder(to) / CERTIFICATE


def _log(to: Path, proof: "Proof", source: Any, wanted: Any, named: dict[str, int | str]) -> None:
    from safegym.formula.claim import Claim
    from safegym.gate.proof_log import log_proof

    log_proof(to, proof, source, wanted if isinstance(wanted, Claim) else None, fields=named)


def _prove(
    source: Any, wanted: Any, region: Any, named: dict[str, int | str], options: dict[str, Any]
) -> "Proof":
    from safegym.check.neural.proof import prove as ask

    return ask(source, wanted, region=region, fields=named, **options)


def _vnnlib(onnx: Path, vnnlib: Path, options: dict[str, Any]) -> "Proof":
    from safegym.check.neural.proof.vnnlib import prove_vnnlib

    return prove_vnnlib(onnx, vnnlib, **options)


def _refuse_beside_vnnlib(
    asked: Asked,
    onnx: Path | None,
    policy: str | None,
    region: list[str] | None,
    field: list[str] | None,
) -> None:
    if onnx is None or policy is not None:
        raise SafegymError("--vnnlib is a property of --onnx NET; give that file.")
    if asked.named or region or field:
        raise SafegymError(
            "A VNN-LIB file holds the property and its region; give no other property, region or "
            "field beside it."
        )


def _check(folder: Path, as_json: bool) -> None:
    """Check a certificate; exits 0 when it is accepted, and 2 with the fault otherwise."""
    from safegym.check.neural.proof.certifying import check_all

    with working(f"checking {folder}", quiet=as_json):
        reports = check_all(folder)
    if as_json:
        print_json({"accepted": True, "parts": [report_json(each) for each in reports]})
    else:
        show_checked(folder, reports)
    raise typer.Exit(Exit.HOLDS)


def _with_inputs(source: Any, named: dict[str, int | str], over: str) -> Any:
    """The policy's graph, once --over is known to name entries of its observation."""
    from safegym.check.neural.proof.subject import graph_of
    from safegym.check.neural.property.layout import OBSERVATION, layout_of

    graph = graph_of(source)
    layout = layout_of(graph, named)
    named_as = [layout.name((OBSERVATION, at)) for at in range(layout.observations)]
    known = [*named_as, *(f"{OBSERVATION}[{at}]" for at in range(layout.observations))]
    _check_over(over, [*known, *(f"risen {name}" for name in known)], ", ".join(named_as))
    return graph


def _check_over(over: str, known: list[str], listed: str) -> None:
    """Before the search, whose answer must not be lost for a wrong name."""
    for name in _names(over):
        if name not in known:
            raise SafegymError(f"--over: {name!r:.60} is no input; there are {listed[:300]}.")


def _names(over: str) -> list[str]:
    return [name.strip() for name in over.split(",")]


def _check_drawing(path: Path | None, over: str | None) -> None:
    names = [] if over is None else _names(over)
    if names and path is None:
        raise SafegymError("--over names the inputs of a picture; add --plot FILE.svg.")
    if len(names) > 2:
        raise SafegymError(f"--over names one or two inputs, found {over!r:.60}.")
    if len(set(names)) < len(names):
        raise SafegymError(f"--over {over!r:.60} names the same input twice; name two.")
    if path is None:
        return
    if path.suffix.lower() != ".svg":
        raise SafegymError(
            f"--plot {path}: the picture is an SVG; write --plot {path.with_suffix('.svg')}."
        )
    if not path.absolute().parent.is_dir():
        raise SafegymError(f"--plot {path}: there is no folder {path.parent}; make it first.")


def _draw(proof: "Proof", path: Path, over: str | None) -> None:
    """Over the inputs named, else the first two that are not fixed, or the only one."""
    if over is None:
        low, high = proof.problems[0].region.low, proof.problems[0].region.high
        free = [at for at, (a, b) in enumerate(zip(low, high, strict=True)) if a < b] or [0]
        chosen: list[str] = [proof.names[at] for at in free[:2]]
    else:
        chosen = _names(over)
    svg = proof.svg(chosen[0], chosen[1] if chosen[1:] else None)
    path.write_text(svg, encoding="utf-8")
    err.print(f"{shown(path)} shows the section over {' and '.join(chosen)}.")
