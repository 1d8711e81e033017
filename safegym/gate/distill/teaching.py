"""One student from several specialists: guidance at every step of the student's own episodes.

Source: Ross, Gordon and Bagnell, A Reduction of Imitation Learning and Structured Prediction to
No-Regret Online Learning (2011), algorithm 3.1 (DAgger): the first round watches the teachers,
later ones the newest student; every step is labelled by the teacher of that scenario, and the
student is fitted to all labels so far. Which student is kept is decided by its own episodes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from safegym.check.statistics.ledger import AttemptLedger
from safegym.errors import PolicyError, UnsupportedError
from safegym.gate.certify import certification_setting
from safegym.gate.distill.apprentice import Apprentice, Lessons, TreeApprentice
from safegym.gate.distill.asked import check_counts, check_seed, check_share
from safegym.gate.distill.distilled import Showing
from safegym.gate.distill.events import (
    DistillationStarted,
    EpisodesWatched,
    Listener,
    RoundEnded,
    ignore,
)
from safegym.gate.distill.gating import certify_settings, certify_teacher
from safegym.gate.distill.guidance import answers, guidance
from safegym.gate.distill.joint import Certified, Joint, not_asked
from safegym.gate.distill.mixing import Mixture
from safegym.gate.distill.net import Net
from safegym.gate.distill.notebook import Notebook
from safegym.gate.distill.observed import CHOOSING, HELD_OUT, acted_on, agreement, showing
from safegym.gate.distill.progress import Progress
from safegym.gate.distill.taught import Lesson, Round, Taught
from safegym.gate.distill.teacher import Course, Teacher, courses
from safegym.gate.distill.tree_student import Tree
from safegym.gate.plan import GatePlan
from safegym.gate.setting import Setting
from safegym.gate.specification import refuse_hopeless
from safegym.gate.ticket import attempt_number
from safegym.policy.base import Policy
from safegym.scenario.campaign import EngineName
from safegym.version import __version__


def distil_teachers(
    teachers: Sequence[Teacher],
    *,
    student: Net | Tree | None = None,
    rounds: int = 8,
    episodes: int = 32,
    held_out: int = 64,
    beta: float = 0.0,
    certify: bool = True,
    certify_teachers: bool = True,
    budget: int = 3_000,
    plan: GatePlan | None = None,
    workers: int = 1,
    engine: EngineName | None = None,
    out: str | Path | None = None,
    resume: bool = False,
    seed: int = 0,
    name: str = "",
    listener: Listener = ignore,
) -> Taught:
    """One student of several specialists, certified on all their scenarios.

    teachers: each a policy on its scenario; all scenarios have the same spaces. student: a network
    (`Net()`, the default) or a tree (`Tree(leaves=64)`). rounds: of watching, `episodes` of each
    scenario in each. beta: in round i, from 0, each step is the teacher's with probability beta**i,
    else the student's: 0 for the student alone after the first round. The student with the fewest
    violations, then the least loss of return against the teachers, is kept, and reported on
    `held_out` other episodes.

    certify: gate the student on all claims of all scenarios, one attempt each of at most `budget`
    episodes; False certifies nobody. certify_teachers: each teacher first, on its own scenario;
    without, the result says that it was not. Both spend attempts of the user's ledger. plan,
    workers, engine: of the certifications.
    out: folder for the student, the trails and a state from which `resume` goes on, bit by bit.
    seed: everything follows from it.

    Raises PolicyError for a teacher that draws its actions or does not fit, UnsupportedError for
    spaces that differ or that no student has, GateError where nothing could be certified,
    RunFolderError for a folder in use or of another distillation; all before the first episode.
    """
    check_counts(rounds=rounds, episodes=episodes, held_out=held_out)
    check_share(beta)
    check_seed(seed)
    given = _student(student)
    places = courses(teachers)
    settings = [_setting(each, budget, plan, workers, engine) for each in places if certify]
    title = name or f"student of {', '.join(each.policy.card.name for each in places)}"
    asked: dict[str, Any] = {
        "safegym": __version__,
        "teachers": [each.to_json() for each in places],
        "student": given.to_json(),
        "rounds": rounds,
        "episodes": episodes,
        "beta": float(beta),
        "seed": seed,
        "name": title,
    }
    school = _School(
        places, _apprentice(given, places[0], rounds, seed, title), rounds, episodes, beta, seed
    )
    notebook = _notebook(out, asked, places, resume=resume)
    made = notebook.made(rounds) if notebook is not None and resume else ""
    for place, setting in zip(places, settings, strict=False):
        _refuse_hopeless(setting, place.policy, certify_teachers, made)
    if notebook is None:
        return _taught(school, settings, certify_teachers, held_out, None, listener)
    notebook.open(resume=resume)
    try:
        return _taught(school, settings, certify_teachers, held_out, notebook, listener)
    finally:
        notebook.close()


@dataclass(frozen=True, slots=True)
class _School:
    """The rounds. See `distil_teachers`."""

    courses: tuple[Course, ...]
    apprentice: Apprentice
    rounds: int
    episodes: int
    beta: float
    seed: int

    def run(self, notebook: Notebook | None, listener: Listener) -> Progress:
        """All rounds, or those that are left."""
        lessons = [Lessons(course) for course in self.courses]
        progress = Progress([]) if notebook is None else notebook.read(lessons, self.apprentice)
        scenarios = tuple(course.spec.name for course in self.courses)
        listener(DistillationStarted(len(progress.rounds), self.rounds, scenarios))
        newest = progress.newest
        bars = self._bars()
        for number in range(len(progress.rounds), self.rounds):
            for each in lessons:
                self._watch(each, newest, number, listener)
            newest, loss = self.apprentice.learn(lessons, number)
            steps = sum(map(len, lessons))
            progress.add(newest, self._round(newest, steps, loss), bars)
            if notebook is not None:
                notebook.write(progress, lessons, self.apprentice)
            listener(self._ended(progress, number))
        return progress

    def _watch(
        self, lessons: Lessons, newest: Policy | None, number: int, listener: Listener
    ) -> None:
        course = lessons.course
        traces = course.world.roll(
            self._leader(course.policy, newest, number), self.seed, number, self.episodes
        )
        guided = guidance(course.policy, traces, course.action_space)
        lessons.parts.append(guided)
        listener(EpisodesWatched(number + 1, course.spec.name, self.episodes, len(guided)))

    def _leader(self, teacher: Policy, newest: Policy | None, number: int) -> Policy:
        share = self.beta**number
        if newest is None or share >= 1.0:
            return teacher
        return newest if share <= 0.0 else Mixture(teacher, newest, share)

    def _round(self, student: Policy, steps: int, loss: float) -> Round:
        found = [self._chosen_by(course, student) for course in self.courses]
        returned = tuple(each.returned or 0.0 for each in found)
        return Round(steps, loss, tuple(each.violated for each in found), returned)

    def _chosen_by(self, course: Course, policy: Policy) -> Showing:
        world = course.world
        return showing(world, world.roll(policy, self.seed, CHOOSING, self.episodes))

    def _bars(self) -> tuple[float, ...]:
        """The teachers' mean returns in the episodes by which the student is chosen."""
        found = (self._chosen_by(course, course.policy) for course in self.courses)
        return tuple(each.returned or 0.0 for each in found)

    def _ended(self, progress: Progress, number: int) -> RoundEnded:
        last = progress.rounds[number]
        names = [course.spec.name for course in self.courses]
        violations = dict(zip(names, last.violations, strict=True))
        best = progress.best == number
        return RoundEnded(number + 1, self.rounds, last.steps, last.loss, violations, best)

    def trained(self, held_out: int) -> list[frozenset[int]]:
        """Of each course, the seeds of all episodes that the student was made or chosen by."""
        parts = [*((part, self.episodes) for part in (*range(self.rounds), CHOOSING))]
        parts.append((HELD_OUT, held_out))
        return [
            frozenset(
                course.world.seed(self.seed, part, index)
                for part, count in parts
                for index in range(count)
            )
            for course in self.courses
        ]


def _taught(
    school: _School,
    settings: Sequence[Setting],
    certify_teachers: bool,
    held_out: int,
    notebook: Notebook | None,
    listener: Listener,
) -> Taught:
    trails = None if notebook is None else notebook.trails
    stood = [
        certify_teacher(setting, course.policy, out=trails, listener=listener)
        for course, setting in zip(school.courses, settings, strict=False)
        if certify_teachers
    ] or [_unasked(course) for course in school.courses]
    progress = school.run(notebook, listener)
    student = progress.chosen
    lessons = tuple(
        _lesson(course, standing, student, school.seed, held_out)
        for course, standing in zip(school.courses, stood, strict=True)
    )
    names = [course.spec.name for course in school.courses]
    joint: Joint = not_asked(names, student.card.digest)
    if notebook is not None:
        notebook.keep(student)
    if settings:
        joint = certify_settings(
            settings,
            student,
            "student",
            out=trails,
            listener=listener,
            trained=school.trained(held_out),
        )
    folder = "" if notebook is None else str(notebook.path)
    found = Taught(student, lessons, tuple(progress.rounds), progress.best, joint, folder)
    if notebook is not None:
        notebook.finish(found.to_json())
    return found


def _lesson(course: Course, stood: Certified, student: Policy, seed: int, held_out: int) -> Lesson:
    world = course.world
    theirs, ours = (world.roll(each, seed, HELD_OUT, held_out) for each in (course.policy, student))
    episodes = [rows for rows in map(acted_on, [*ours, *theirs]) if len(rows)]
    wanted, found = (
        answers(each, episodes, course.action_space) for each in (course.policy, student)
    )
    return Lesson(
        course.spec.name,
        course.policy.card.name,
        stood,
        agreement(wanted, found),
        showing(world, theirs),
        showing(world, ours),
    )


def _unasked(course: Course) -> Certified:
    return Certified(course.spec.name, course.policy.card.digest, "not asked")


def _setting(
    course: Course,
    budget: int,
    plan: GatePlan | None,
    workers: int,
    engine: EngineName | None,
) -> Setting:
    return certification_setting(
        course.spec, claims=course.claims, budget=budget, plan=plan, workers=workers, engine=engine
    )


def _notebook(
    out: str | Path | None, asked: dict[str, Any], places: Sequence[Course], *, resume: bool
) -> Notebook | None:
    """The folder's, None for no folder. Raises for what cannot be gone on with."""
    if not resume:
        return None if out is None else Notebook(out, asked)
    if out is None:
        raise UnsupportedError("resume=True goes on in a folder: give out= as before.")
    for place in places:
        if not place.policy.card.is_known:
            raise PolicyError(
                f"Teacher {place.policy.card.name} is an object that no digest names, so nothing "
                "tells whether it is the one that taught before; start again in another folder, "
                "with a teacher that can be named: safegym.freeze(model)."
            )
    return Notebook(out, asked)


def _refuse_hopeless(setting: Setting, teacher: Policy, certify_teachers: bool, made: str) -> None:
    """Raise GateError where the cap is too small for the attempts that are to come.

    made: digest of a student that is finished, whose attempt may have begun before; "" for none.
    """
    ledger = AttemptLedger(setting.spec.digest, setting.claims_digest)
    following = attempt_number(ledger, "", setting)
    if made:
        begun = attempt_number(ledger, made, setting)
        if begun < following:
            refuse_hopeless(setting, begun)
            return
    own = attempt_number(ledger, teacher.card.digest, setting)
    spent = certify_teachers and teacher.card.is_known and own == following
    refuse_hopeless(setting, following + 1 if spent else following)


def _student(given: Any) -> Net | Tree:
    if given is None:
        return Net()
    if not isinstance(given, Net | Tree):
        raise UnsupportedError(
            f"student={given!r:.60}: write student=Net(hidden=(64, 64)) or Tree(leaves=64)."
        )
    return given


def _apprentice(given: Net | Tree, course: Course, rounds: int, seed: int, name: str) -> Apprentice:
    if isinstance(given, Tree):
        return TreeApprentice(given, name)
    from safegym.gate.distill.net_student import NetApprentice

    return NetApprentice(given, course, rounds=rounds, seed=seed, name=name)
