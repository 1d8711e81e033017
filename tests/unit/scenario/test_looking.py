"""Films: the episode that would run anyway, drawn, captioned and written, or refused in words."""

import json
import os
from dataclasses import replace

import gymnasium as gym
import numpy as np
import pytest
from PIL import Image
from scenario_models import Walk, walk
from typer.testing import CliRunner

from safegym.check.live import make as make_live
from safegym.cli import scenarios
from safegym.errors import ScenarioError
from safegym.scenario.looking import backend, film_file
from safegym.scenario.looking.caption import captioned
from safegym.scenario.looking.drawing import drawing, picture_of
from safegym.scenario.looking.film import film
from safegym.scenario.looking.film_file import write_film
from safegym.scenario.looking.gallery import write_gallery
from safegym.scenario.looking.pictures import Pictures, take_pictures
from safegym.scenario.looking.signal_plot import signal_plot
from safegym.scenario.looking.window import play, refuse_without_display
from safegym.scenario.record import record
from safegym.scenario.registry import find
from safegym.scenario.verified import Row, Separation
from safegym.scenario.wrap import make

NAME = "classic/pendulum-v0"


@pytest.fixture(autouse=True)
def backend_is_left_as_it_was(monkeypatch):
    """Nothing of MuJoCo is drawn here, so none is looked for."""
    monkeypatch.setenv("MUJOCO_GL", "egl")
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/tmp")


@pytest.fixture(scope="module")
def pendulum():
    spec = find(NAME)
    env = make_live(drawing(spec), live=True)
    return film(env, NAME, float(spec.clock.dt), spec.good(), seed=3, rate=2.0)


def test_a_film_is_the_episode_that_would_run_anyway(pendulum):
    spec = find(NAME)
    assert drawing(spec).digest == spec.digest
    assert pendulum.trace.digest == record(spec, spec.good(), 3).digest
    assert pendulum.pace == 0.5
    assert [shot.time for shot in pendulum.shots] == pytest.approx(np.arange(21) * 0.5)
    assert all(shot.picture.dtype == np.uint8 for shot in pendulum.shots)
    assert (pendulum.shots[0].picture != pendulum.shots[10].picture).any()
    assert set(pendulum.shots[-1].claims) == {claim.id for claim in spec.claims}
    assert {found["status"] for found in pendulum.shots[-1].claims.values()} == {"satisfied"}


@pytest.mark.parametrize("kind", ["gif", "webp"])
def test_a_moving_picture_has_every_shot_at_the_pace_of_the_simulation(pendulum, tmp_path, kind):
    path, note = write_film(pendulum, tmp_path / f"film.{kind}")
    with Image.open(path) as image:
        assert (image.format, note) == (kind.upper(), "")
        assert image.n_frames <= len(pendulum.shots)  # a GIF joins pictures that are the same
        total = 0
        for frame in range(image.n_frames):
            image.seek(frame)
            image.load()
            total += image.info["duration"]
        assert total == pytest.approx(500 * len(pendulum.shots), rel=0.01)


def test_an_mp4_without_its_encoder_becomes_a_gif_and_says_so(pendulum, tmp_path, monkeypatch):
    monkeypatch.setattr(film_file, "find_spec", lambda name: None)
    path, note = write_film(pendulum, tmp_path / "film.mp4")
    assert path == tmp_path / "film.gif"
    assert path.is_file()
    assert note == "an MP4 needs `pip install imageio-ffmpeg`; written as GIF"


def test_a_png_is_the_picture_of_the_time_that_is_asked_for(pendulum, tmp_path):
    path, _ = write_film(pendulum, tmp_path / "one.png", at=4.9)
    with Image.open(path) as image:
        assert (np.asarray(image) == captioned(pendulum, pendulum.shots[10])).all()


def test_the_caption_stands_below_the_picture_and_shows_each_verdict(pendulum):
    shot = pendulum.shots[-1]
    whole, height = captioned(pendulum, shot), shot.picture.shape[0]
    assert (whole[:height] == shot.picture).all()
    worse = {name: {**found, "status": "violated"} for name, found in shot.claims.items()}
    red = captioned(pendulum, replace(shot, claims=worse))
    band = whole[height:].astype(int), red[height:].astype(int)
    assert (band[0][..., 1] - band[0][..., 0]).max() > 60  # green letters
    assert (band[1][..., 0] - band[1][..., 1]).max() > 60  # red ones


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("film.avi", "ends in '.avi'; a film is written to .mp4, .gif, .webp or, as one picture"),
        ("none/film.gif", "none is not there; create it first"),
    ],
)
def test_a_file_that_cannot_be_written_is_refused(pendulum, tmp_path, name, said):
    with pytest.raises(ScenarioError, match=said):
        write_film(pendulum, tmp_path / name)


class Painted(Walk):
    """Draws itself in a mode that it takes when it is made."""

    metadata = {"render_modes": ["rgb_array"]}  # noqa: RUF012

    def __init__(self, render_mode=None):
        super().__init__()
        self.render_mode = render_mode

    def render(self):
        if self.render_mode != "rgb_array":
            return None
        return np.full((8, 12, 3), 100 + self.count, np.uint8)


class Torn(Painted):
    def render(self):
        raise OSError("no canvas")


def painted(kind):
    return walk(kind)


def test_an_environment_that_takes_a_mode_is_made_with_it():
    env = drawing(painted(Painted)).make_env()
    env.reset(seed=1)
    assert picture_of(env, "x").shape == (8, 12, 3)
    assert Painted().render_mode is None


def test_an_environment_without_pictures_is_refused_before_it_runs():
    spec = find("chain/plant-v0")
    with pytest.raises(ScenarioError, match=r"^chain/plant-v0 draws no picture: .*render_modes"):
        film(make(drawing(spec)), spec.name, 0.1, spec.good())


def test_an_environment_that_fails_to_draw_is_named():
    spec = painted(Torn)
    with pytest.raises(ScenarioError, match=r"cannot be drawn: render\(\) raised OSError: no canv"):
        film(make(drawing(spec)), spec.name, 0.1, spec.good())


def test_where_neither_backend_works_the_packages_are_named(monkeypatch):
    monkeypatch.setattr(backend, "draws", lambda name: False)
    monkeypatch.delenv("MUJOCO_GL", raising=False)
    backend.working_backend.cache_clear()
    try:
        with pytest.raises(
            ScenarioError,
            match=r"arm/human-stop-v0 cannot be drawn: neither EGL nor OSMesa works here\. "
            r".*`apt-get install libosmesa6`",
        ):
            drawing(find("arm/human-stop-v0"))
        assert drawing(find(NAME)).name == NAME
    finally:
        backend.working_backend.cache_clear()


def test_the_first_backend_that_works_is_chosen_and_the_users_choice_stays(monkeypatch):
    monkeypatch.setattr(backend, "draws", lambda name: name == "osmesa")
    backend.working_backend.cache_clear()
    try:
        monkeypatch.setenv("MUJOCO_GL", "")
        assert backend.choose_backend() == os.environ["MUJOCO_GL"] == "osmesa"
        monkeypatch.setenv("MUJOCO_GL", "egl")
        assert backend.choose_backend() == "egl"
    finally:
        backend.working_backend.cache_clear()


def test_without_a_display_a_file_is_offered(monkeypatch):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "SDL_VIDEODRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    with pytest.raises(ScenarioError, match=r"no display here .*: --render FILE\.gif"):
        refuse_without_display()
    monkeypatch.setenv("DISPLAY", ":0")
    refuse_without_display()


@pytest.mark.filterwarnings("ignore")
def test_a_window_shows_every_picture(pendulum, monkeypatch):
    pygame = pytest.importorskip("pygame")
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    seen = []
    inner = pygame.display.flip
    monkeypatch.setattr(
        pygame.display,
        "flip",
        lambda: (inner(), seen.append(pygame.surfarray.array3d(pygame.display.get_surface())))[0],
    )
    brief = replace(pendulum, shots=pendulum.shots[:3], pace=0.02)
    play(brief, rounds=1)
    assert len(seen) == 3
    assert (seen[2].swapaxes(0, 1) == captioned(brief, brief.shots[2])).all()


def test_signals_are_plotted_where_nothing_is_drawn():
    text = signal_plot({"a <b>": np.array([0.0, 1.0, 4.0]), "c": np.zeros((3, 2))}, 0.5)
    assert "a &lt;b&gt;" in text
    assert "0 to 4, 1 s" in text
    assert text.count("<polyline") == 2


def test_the_pictures_of_a_scenario_or_the_reason_why_not(tmp_path):
    taken = take_pictures(tmp_path, NAME)
    assert taken == Pictures(NAME, "classic-pendulum-v0.jpg", "classic-pendulum-v0.webp")
    with Image.open(tmp_path / taken.still) as still, Image.open(tmp_path / taken.moving) as moving:
        assert (still.size, moving.size) == ((640, 480), (320, 240))
        assert moving.n_frames >= 5  # pictures that are the same are joined
    plain = take_pictures(tmp_path, "chain/plant-v0")
    assert (plain.still, plain.moving) == ("chain-plant-v0.svg", "")
    assert "draws no picture" in plain.problem
    assert "did you mean" in take_pictures(tmp_path, "chain/plan-v0").problem


def test_the_page_holds_every_scenario_and_loads_nothing_from_elsewhere(tmp_path):
    specs = [find(NAME), find("chain/plant-v0")]
    pictures = {NAME: Pictures(NAME, "a.jpg", "a.webp")}
    rows = {NAME: Row("sha256:0", 20, 19, (Separation("pendulum.settle", 20, 13, "p.bad"),))}
    text = write_gallery(tmp_path, specs, pictures, rows).read_text(encoding="utf-8")
    for spec in specs:
        assert f'<article id="{spec.name}" data-family="{spec.name.partition("/")[0]}"' in text
        for claim in spec.claims:
            assert f"<strong>{claim.id}</strong>" in text
    assert 'src="pictures/a.jpg" data-moving="pictures/a.webp"' in text
    assert "good 19/20" in text
    assert "p.bad violates it on 13" in text
    assert text.count("not verified") == 1
    assert "<p>1 verified, 6 claims, 2 families." in text
    assert "http" not in text


def run(*words):
    return CliRunner().invoke(scenarios.app, list(words))


def test_the_command_films_a_policy_and_tells_the_verdicts(tmp_path):
    path = tmp_path / "film.gif"
    line = ("show", NAME, "--policy", "bad:pendulum.settle", "--rate", "1", "--render", str(path))
    found = run(*line, "--json")
    assert found.exit_code == 0, found.output
    document = json.loads(found.output)
    assert (document["file"], document["pictures"]) == (str(path), 11)
    assert document["verdicts"][0] == {"claim": "pendulum.settle", "status": "violated"}
    assert path.is_file()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["show"], "Name a scenario, or pass --all"),
        (["show", "--all"], "takes a folder and no name"),
        (["show", "drone/coridor-v0", "--render", "x.gif"], "did you mean drone/corridor-v0"),
        (["show", NAME, "--render", "x.avi"], "ends in '.avi'"),
        (["gallery", "x", "drone/coridor-v0"], "did you mean drone/corridor-v0"),
    ],
)
def test_what_cannot_be_shown_is_refused(words, said):
    assert said in str(run(*words).exception)


@pytest.mark.slow
def test_the_gallery_goes_on_past_a_scenario_that_cannot_be_drawn(tmp_path):
    found = run("gallery", str(tmp_path), NAME, "chain/plant-v0", "--workers", "1")
    assert found.exit_code == 0, found.output
    assert "no picture: chain/plant-v0: chain/plant-v0 draws no picture" in found.output
    assert "1 of 2 scenarios filmed" in found.output
    assert (tmp_path / "index.html").is_file()
    assert isinstance(find(NAME).make_env(), gym.Env)


def test_a_still_draws_only_what_it_needs_and_the_last_picture_tells_the_outcome():
    spec = find("classic/pendulum-v0")
    env = make_live(drawing(spec), live=True)
    taken = film(env, spec.name, 0.05, spec.good(), seed=0, only_at=2.0)
    assert [round(shot.time, 6) for shot in taken.shots] == [0.0, 2.0, 10.0]
    ended = taken.ended({"pendulum.settle": {"status": "violated", "lo": -0.5, "hi": -0.5}})
    assert ended.shots[-1].claims["pendulum.settle"]["status"] == "violated"
    assert ended.shots[:-1] == taken.shots[:-1]
