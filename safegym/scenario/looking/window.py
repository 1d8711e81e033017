"""A live window, where there is a display."""

import os
import sys
from typing import Any

from safegym.errors import ScenarioError
from safegym.scenario.looking.caption import captioned
from safegym.scenario.looking.film import Film


def refuse_without_display() -> None:
    """Raises ScenarioError, with what to do instead, where no window can be opened."""
    if sys.platform in ("darwin", "win32") or os.environ.get("SDL_VIDEODRIVER"):
        return
    if not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        raise ScenarioError(
            "There is no display here (neither DISPLAY nor WAYLAND_DISPLAY is set), so no window "
            "can be opened; write the film to a file: --render FILE.gif"
        )


def play(film: Film, *, rounds: int | None = None) -> None:
    """Shows a film in a window at the pace of the simulation, again and again until it is closed.

    rounds: how often, None for no end. Any key or the window's button closes it.
    """
    import pygame

    pygame.display.init()
    try:
        clock = pygame.time.Clock()
        shown = 0
        while rounds is None or shown < rounds:
            for shot in film.shots:
                if _closed(pygame):
                    return
                picture = captioned(film, shot)
                screen = pygame.display.set_mode((picture.shape[1], picture.shape[0]))
                pygame.display.set_caption(film.name)
                surface = pygame.surfarray.make_surface(picture.swapaxes(0, 1))
                screen.blit(surface, (0, 0))
                pygame.display.flip()
                clock.tick(1.0 / film.pace)
            shown += 1
    finally:
        pygame.display.quit()


def _closed(pygame: Any) -> bool:
    kinds = (pygame.QUIT, pygame.KEYDOWN)
    return any(event.type in kinds for event in pygame.event.get())
