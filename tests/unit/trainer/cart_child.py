"""A training run in a process of its own, to be killed: prints each event's name as it comes."""

import sys
from pathlib import Path

from cart_training import ScriptedGate, cart_spec, small_settings

from safegym.gate.trainer.loop import Trainer


def say(event) -> None:
    print(type(event).__name__, flush=True)


def main(out: Path) -> None:
    settings = small_settings(steps=512)
    if (out / "training.json").exists():
        Trainer.resume(cart_spec(), out, ScriptedGate(), listener=say).run()
    else:
        Trainer(cart_spec(), settings, out, ScriptedGate(), listener=say).run()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
