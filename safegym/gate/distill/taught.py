"""What a distillation from several teachers gives: the student, how it compares, what is shown."""

from dataclasses import dataclass
from typing import Any

from safegym.gate.distill.distilled import Agreement, Showing
from safegym.gate.distill.joint import Certified, Joint
from safegym.policy.base import Policy

OBSERVED = (
    "Agreement, returns and violations are observed on held-out episodes, which prove nothing. "
    "What is shown of the student is in the last line, and of the student alone: deploy that one."
)


@dataclass(frozen=True, slots=True)
class Lesson:
    """One teacher and the student on the same held-out starts of its scenario.

    certified: how the teacher itself stood before it taught.
    """

    scenario: str
    teacher: str
    certified: Certified
    agreement: Agreement
    of_teacher: Showing
    of_student: Showing

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "scenario": self.scenario,
            "teacher": self.teacher,
            "teacher_certified": self.certified.to_json(),
            "agreement": {
                "observations": self.agreement.observations,
                "same": self.agreement.same,
                "mean": self.agreement.mean,
                "largest": self.agreement.largest,
            },
            "held_out": {
                "teacher": self.of_teacher.to_json(),
                "student": self.of_student.to_json(),
            },
        }


@dataclass(frozen=True, slots=True)
class Round:
    """A round's student. steps: all that teachers were asked so far. loss: on those. violations:
    of each scenario, in the episodes by which the best is chosen. returned: mean return there.
    """

    steps: int
    loss: float
    violations: tuple[int, ...]
    returned: tuple[float, ...]

    def to_json(self) -> dict[str, Any]:
        """All of it."""
        return {
            "steps": self.steps,
            "loss": self.loss,
            "violations": list(self.violations),
            "returns": list(self.returned),
        }

    @classmethod
    def from_json(cls, data: Any) -> "Round":
        """The round of `to_json`."""
        return cls(data["steps"], data["loss"], tuple(data["violations"]), tuple(data["returns"]))


@dataclass(frozen=True, slots=True)
class Taught:
    """A student, and what is known of it.

    student: a policy like any other. lessons: one a teacher. rounds: in order; the student of
    `chosen` is kept. joint: the student's certification on all scenarios. folder: where student,
    result and trails were written, "" for nowhere.
    """

    student: Policy
    lessons: tuple[Lesson, ...]
    rounds: tuple[Round, ...]
    chosen: int
    joint: Joint
    folder: str = ""

    @property
    def uncertified(self) -> tuple[str, ...]:
        """Scenarios whose teacher was not certified."""
        lessons = self.lessons
        return tuple(each.scenario for each in lessons if each.certified.outcome != "certified")

    def to_json(self) -> dict[str, Any]:
        """Everything but the student itself, of which name and digest."""
        card = self.student.card
        return {
            "student": {"name": card.name, "policy": card.digest, "kind": card.kind},
            "certified": self.joint.to_json(),
            "teachers_not_certified": list(self.uncertified),
            "lessons": [each.to_json() for each in self.lessons],
            "rounds": [each.to_json() for each in self.rounds],
            "chosen": self.chosen,
            "folder": self.folder,
            "note": OBSERVED,
        }

    def __str__(self) -> str:
        lines = [f"{self.student.card.name}: {_asked(self)}; round {self.chosen + 1} was kept"]
        for each in self.lessons:
            lines += _compared(each)
        lines += [OBSERVED, *_of_teachers(self), *(str(part) for part in self.joint.parts)]
        return "\n".join([*lines, f"student: {self.joint}"])


def _asked(taught: Taught) -> str:
    return f"{taught.rounds[-1].steps} steps with guidance in {len(taught.rounds)} rounds"


def _compared(lesson: Lesson) -> list[str]:
    same, seen = lesson.agreement.same, lesson.agreement.observations
    lines = [
        f"{lesson.scenario}: {_down(same)} of {seen} actions agree",
        f"{'':34}{'teacher':>12}{'student':>12}",
    ]
    pair = lesson.of_teacher, lesson.of_student
    if None not in (pair[0].returned, pair[1].returned):
        lines.append(_row("mean return", *(_number(each.returned) for each in pair)))
    for name in lesson.of_teacher.violations:
        lines.append(_row(f"{name} margin", *(_number(each.margins[name]) for each in pair)))
        lines.append(_row(f"{name} violations", *(str(each.violations[name]) for each in pair)))
    return lines


def _of_teachers(taught: Taught) -> list[str]:
    stood = [each.certified for each in taught.lessons]
    if taught.uncertified:
        parts = [part for part in stood if part.outcome != "certified"]
        lines = [f"teacher not certified, {part}" for part in parts]
    else:
        lines = ["teachers: each certified on its scenario before it taught"]
    partly = [part for part in stood if part.outcome == "certified" and part.observed]
    return [*lines, *(f"teacher in part only, {part}" for part in partly)]


def _down(share: float) -> str:
    """A share in percent, rounded down to a tenth."""
    return f"{int(share * 1000) / 10:.1f}%"


def _row(what: str, left: str, right: str) -> str:
    return f"  {what:32}{left:>12}{right:>12}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
