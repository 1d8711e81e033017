"""The explanation as it is handed to a user."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.check.explanation.draw import svg_of
from safegym.check.explanation.scene import Scene
from safegym.errors import UnsupportedError
from safegym.verdict import Verdict


@dataclass(frozen=True, slots=True, repr=False)
class Explanation:
    """Why a verdict came out as it did: `str()` in words, `.svg` as a picture.

    A notebook shows the picture by itself. verdict: what is explained. words: a paragraph. scene:
    what the picture shows.
    """

    verdict: Verdict
    words: str
    scene: Scene

    def __str__(self) -> str:
        return self.words

    def __repr__(self) -> str:
        return f"<Explanation {self.scene.name}: {self.scene.status}>"

    @property
    def svg(self) -> str:
        """The picture as one SVG element, without anything to load or to run."""
        return svg_of(self.scene)

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | Path) -> None:
        """Write the picture (.svg; .png needs matplotlib) or the words (.txt).

        Raises UnsupportedError for another ending, or where matplotlib is missing.
        """
        target = Path(path)
        kind = target.suffix.lower()
        if kind == ".svg":
            target.write_text(f"{self.svg}\n", encoding="utf-8")
        elif kind == ".txt":
            target.write_text(f"{self.words}\n", encoding="utf-8")
        elif kind == ".png":
            from safegym.check.explanation.plot import save_png

            save_png(self.scene, target)
        else:
            raise UnsupportedError(
                f"An explanation is saved as .svg, .txt or .png, found {target.name!r}; write "
                f'explanation.save("{target.stem or "why"}.svg").'
            )

    def plot(self, ax: Any = None) -> tuple[Any, ...]:
        """Draw with matplotlib; returns the axes, one for each panel.

        ax: draws the first panel there; None makes a figure with all of them. Raises
        UnsupportedError, with the line that installs it, where matplotlib is missing.
        """
        from safegym.check.explanation.plot import plot_scene

        return plot_scene(self.scene, ax)
