"""The algorithms that train under a gate, as data. Loads neither torch nor stable-baselines3.

A card says what an algorithm is: whose it is, what actions it takes, which fields of
`TrainSettings` and which options it reads, and what stands where nothing is given. Names and
defaults of options are those of stable-baselines3 2.9.2 and sb3-contrib 2.9.2; so are the other
defaults, but for rollouts, which divide the usual epoch: 256 steps for PPO and TRPO, 8 for A2C.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Literal

from safegym.errors import GateError
from safegym.gate.trainer.options import Kind, checked

Family = Literal["on", "off"]
ALL_ACTIONS = ("Box", "Discrete", "MultiDiscrete", "MultiBinary")
OWN_FIELDS = (
    "n_steps",
    "batch_size",
    "n_epochs",
    "learning_rate",
    "clip_range",
    "gae_lambda",
    "ent_coef",
    "vf_coef",
    "max_grad_norm",
    "target_kl",
    "log_std_init",
    "options",
)
"""Fields of `TrainSettings` that mean what the algorithm makes of them; the others are shared."""
ALWAYS_READ = ("n_steps", "learning_rate", "options")


@dataclass(frozen=True, slots=True)
class Algorithm:
    """What is to be known of an algorithm before it is built.

    family: "on" (learns from each rollout once) or "off" (from a replay buffer). package,
    class_name: where it is. actions: classes of action spaces that it takes. fields: those of
    `OWN_FIELDS` that it reads. options, network: name -> kind, arguments of its constructor and of
    its policy. defaults: fields of `TrainSettings` that stand at another value than a plain
    `TrainSettings()` has. recurrent: whether its policy has a memory.
    """

    name: str
    family: Family
    package: str
    class_name: str
    actions: tuple[str, ...]
    fields: tuple[str, ...]
    options: Mapping[str, Kind]
    network: Mapping[str, Kind]
    defaults: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    recurrent: bool = False

    @property
    def takes(self) -> tuple[str, ...]:
        """Every name that may be set for it beside the shared fields, sorted."""
        return tuple(sorted({*self.fields, *ALWAYS_READ[:2], *self.options, *self.network}))

    def checked_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """The options, each of its kind. Raises GateError for an unknown one or a bad value."""
        kinds: dict[str, Kind] = {**self.options, **self.network}
        for name in given:
            if name not in kinds:
                raise self.unknown(name)
        found = {name: checked(name, given[name], kinds[name]) for name in sorted(given)}
        if _DROPPED in kinds:
            _check_quantiles(found)
        return found

    def unknown(self, name: str, fields: Iterable[str] = ()) -> GateError:
        """The error for a name that is not the algorithm's. fields: those it may have meant."""
        close = get_close_matches(name, [*self.takes, *fields], 1)
        meant = f" (did you mean {close[0]!r}?)" if close else ""
        return GateError(
            f"Unknown option {name!r}{meant}; {self.name} takes {', '.join(self.takes)}, and the "
            "fields of TrainSettings that every algorithm has."
        )

    def check_actions(self, space: object) -> None:
        """Raises GateError unless the algorithm takes actions of this Gymnasium space."""
        found = type(space).__name__
        if found not in self.actions:
            able = ", ".join(name for name, card in ALGORITHMS.items() if found in card.actions)
            raise GateError(
                f"algo={self.name!r} takes {' or '.join(self.actions)} actions, the scenario has "
                f"{space}. {f'These take them: {able}.' if able else 'No algorithm takes them.'}"
            )


def _check_quantiles(given: Mapping[str, Any]) -> None:
    """Raises GateError unless each critic of TQC keeps a quantile of its own."""
    dropped, quantiles = given.get(_DROPPED, 2), given.get("n_quantiles", 25)
    if dropped >= quantiles:
        raise GateError(
            f"{_DROPPED} is {dropped} of n_quantiles={quantiles}, which leaves no target to learn; "
            f"{_DROPPED}={max(quantiles - 1, 0)} is the most."
        )


_DROPPED = "top_quantiles_to_drop_per_net"
_SDE: dict[str, Kind] = {"use_sde": "flag", "sde_sample_freq": "whole or -1"}
_ACTOR_CRITIC: dict[str, Kind] = {
    "critic_arch": "widths",
    "ortho_init": "flag",
}
_LSTM: dict[str, Kind] = {
    "lstm_hidden_size": "count",
    "n_lstm_layers": "count",
    "shared_lstm": "flag",
    "enable_critic_lstm": "flag",
}
_PPO: dict[str, Kind] = {"clip_range_vf": "number or none", "normalize_advantage": "flag", **_SDE}
_PPO_FIELDS = (
    "batch_size",
    "n_epochs",
    "clip_range",
    "gae_lambda",
    "ent_coef",
    "vf_coef",
    "max_grad_norm",
    "target_kl",
    "log_std_init",
)
_REPLAY: dict[str, Kind] = {
    "buffer_size": "count",
    "learning_starts": "whole",
    "tau": "fraction",
    "gradient_steps": "whole or -1",
    "return_steps": "count",
    "failing_share": "share",
    "failing_steps": "count",
}
_NOISE: dict[str, Kind] = {"noise": "noise", "noise_sigma": "deviation"}
_SAC: dict[str, Kind] = {
    **_REPLAY,
    **_NOISE,
    **_SDE,
    "use_sde_at_warmup": "flag",
    "ent_coef": "start or auto",
    "target_entropy": "number or auto",
    "target_update_interval": "count",
}
_DQN: dict[str, Kind] = {
    **_REPLAY,
    "target_update_interval": "count",
    "exploration_fraction": "fraction",
    "exploration_initial_eps": "fraction",
    "exploration_final_eps": "fraction",
    "max_grad_norm": "number or none",
}
_TWIN_CRITICS: dict[str, Kind] = {"critic_arch": "widths", "n_critics": "count"}
_SAC_NETWORK: dict[str, Kind] = {**_TWIN_CRITICS, "log_std_init": "number"}
_RELU: dict[str, Any] = {"activation": "relu", "n_steps": 1}
_NOISY: dict[str, Any] = {"options": {"noise": "normal"}}
"""A deterministic policy explores by noise alone; stable-baselines3 leaves it to the caller."""


_CARDS = (
    Algorithm(
        "ppo", "on", "stable_baselines3", "PPO", ALL_ACTIONS, _PPO_FIELDS, _PPO, _ACTOR_CRITIC
    ),
    Algorithm(
        "a2c",
        "on",
        "stable_baselines3",
        "A2C",
        ALL_ACTIONS,
        ("gae_lambda", "ent_coef", "vf_coef", "max_grad_norm", "log_std_init"),
        {
            "rms_prop_eps": "number",
            "use_rms_prop": "flag",
            "normalize_advantage": "flag",
            **_SDE,
        },
        _ACTOR_CRITIC,
        {"n_steps": 8, "learning_rate": 7e-4, "gae_lambda": 1.0},
    ),
    Algorithm(
        "trpo",
        "on",
        "sb3_contrib",
        "TRPO",
        ALL_ACTIONS,
        ("batch_size", "gae_lambda", "target_kl", "log_std_init"),
        {
            "cg_max_steps": "count",
            "cg_damping": "number",
            "line_search_shrinking_factor": "number",
            "line_search_max_iter": "count",
            "n_critic_updates": "count",
            "normalize_advantage": "flag",
            "sub_sampling_factor": "count",
            **_SDE,
        },
        _ACTOR_CRITIC,
        {"batch_size": 128, "learning_rate": 1e-3, "target_kl": 0.01},
    ),
    Algorithm(
        "recurrent-ppo",
        "on",
        "sb3_contrib",
        "RecurrentPPO",
        ALL_ACTIONS[:3],  # its buffer holds MultiBinary actions as bytes, and its update fails
        _PPO_FIELDS,
        _PPO,
        {**_ACTOR_CRITIC, **_LSTM},
        {"n_steps": 128, "batch_size": 128},
        recurrent=True,
    ),
    Algorithm(
        "sac",
        "off",
        "stable_baselines3",
        "SAC",
        ("Box",),
        ("batch_size",),
        _SAC,
        _SAC_NETWORK,
        {**_RELU, "net_arch": (256, 256)},
    ),
    Algorithm(
        "td3",
        "off",
        "stable_baselines3",
        "TD3",
        ("Box",),
        ("batch_size",),
        {
            **_REPLAY,
            **_NOISE,
            "policy_delay": "count",
            "target_policy_noise": "deviation",
            "target_noise_clip": "deviation",
        },
        _TWIN_CRITICS,
        {**_RELU, **_NOISY, "net_arch": (400, 300), "learning_rate": 1e-3},
    ),
    Algorithm(
        "ddpg",
        "off",
        "stable_baselines3",
        "DDPG",
        ("Box",),
        ("batch_size",),
        {**_REPLAY, **_NOISE},
        {"critic_arch": "widths"},
        {**_RELU, **_NOISY, "net_arch": (400, 300), "learning_rate": 1e-3},
    ),
    Algorithm(
        "dqn",
        "off",
        "stable_baselines3",
        "DQN",
        ("Discrete",),
        ("batch_size",),
        _DQN,
        {},
        {**_RELU, "n_steps": 4, "batch_size": 32, "learning_rate": 1e-4},
    ),
    Algorithm(
        "tqc",
        "off",
        "sb3_contrib",
        "TQC",
        ("Box",),
        ("batch_size",),
        {**_SAC, "top_quantiles_to_drop_per_net": "whole"},
        {**_SAC_NETWORK, "n_quantiles": "count"},
        {**_RELU, "net_arch": (256, 256)},
    ),
    Algorithm(
        "qr-dqn",
        "off",
        "sb3_contrib",
        "QRDQN",
        ("Discrete",),
        ("batch_size",),
        _DQN,
        {"n_quantiles": "count"},
        {**_RELU, "n_steps": 4, "batch_size": 32, "learning_rate": 5e-5},
    ),
)
ALGORITHMS: Mapping[str, Algorithm] = MappingProxyType({card.name: card for card in _CARDS})
"""Name -> card, on-policy first."""


_WITHOUT_A_HOOK: Mapping[str, str] = MappingProxyType(
    {
        "ars": "it searches over whole episodes' returns and has no buffer to write penalties into",
        "maskableppo": "its policy asks for action masks, which scenarios do not give",
        "crossq": "its batch normalisation mixes the rows of a batch, and evidence inference must "
        "not",
        "her": "its buffer relabels goals of Dict observations, which scenarios do not have",
    }
)


def algorithm(name: object) -> Algorithm:
    """The card of that name. Raises GateError, saying why and listing the names, for any other."""
    card = ALGORITHMS.get(name) if isinstance(name, str) else None
    if card is None:
        raise GateError(
            f"Algorithm {name!r} cannot be trained under a gate{_why(name)}; give algo= one of "
            f"{', '.join(ALGORITHMS)}."
        )
    return card


def _why(name: object) -> str:
    if isinstance(name, type):
        return ": classes are not taken, since a subclass may leave out what the loop needs"
    asked = _letters(str(name))
    if asked in _WITHOUT_A_HOOK:
        return f": {_WITHOUT_A_HOOK[asked]}"
    meant = next((own for own in ALGORITHMS if _letters(own) == asked), None)
    return "" if meant is None else f" by that name, {meant!r} can"


def _letters(name: str) -> str:
    return "".join(character for character in name.lower() if character.isalnum())
