"""Whether a network does what its classes and constants say, and nothing else.

A frozen policy is built anew from these. What hangs on the object itself (a hook, a method put in
the place of its class's, a module exchanged after the network was built) would be lost on the way.
"""

from typing import Any

from stable_baselines3.common.base_class import BaseAlgorithm
from stable_baselines3.common.policies import BasePolicy
from torch import nn

_HOOKS = ("_forward_hooks", "_forward_pre_hooks")


def altered(network: nn.Module, name: str) -> str | None:
    """Why a module does more, or something else, than its class says; None if none does.

    Hooks (those of weight_norm and spectral_norm too) and methods replaced on the object change
    what is given, maybe at inputs that no comparison tries.
    """
    for place, module in network.named_modules():
        where = f"{name}, layer {place}" if place else name
        if any(getattr(module, kind, None) for kind in _HOOKS):
            return (
                f"{where}: {type(module).__name__} has a hook, which may change what it gives; "
                "remove it (.remove(), remove_weight_norm, remove_spectral_norm) first."
            )
        changed = [each for each in vars(module) if callable(getattr(type(module), each, None))]
        if changed:
            return (
                f"{where}: {type(module).__name__} has its own {changed[0]} in place of its "
                "class's; what it does then is not read."
            )
    return None


def lost_in_copy(source: BaseAlgorithm, copy: BasePolicy) -> str | None:
    """What of an algorithm's policy a copy built from its description does not have; None: all."""
    name = type(source).__name__
    reason = altered(source.policy, name)
    if reason is not None:
        return reason
    if "predict" in vars(source):
        return f"{name} has its own predict in place of its class's."
    own, copied = _structure(source.policy), _structure(copy)
    if own != copied:
        changed = min(at for at in {*own, *copied} if own.get(at) != copied.get(at))
        return (
            f"{name}: its part {changed} is no longer what its policy_kwargs say; build the "
            "algorithm with the network that it is to have."
        )
    return None


def _structure(network: BasePolicy) -> dict[str, tuple[type[Any], str]]:
    """Each module's class and constants."""
    found = network.named_modules(remove_duplicate=False)
    return {place: (type(module), module.extra_repr()) for place, module in found}
