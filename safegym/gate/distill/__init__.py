"""Policies distilled: into a tree that can be read and proved, or several into one student."""

from safegym.gate.distill.cart import grow
from safegym.gate.distill.distilled import Distilled
from safegym.gate.distill.gating import certify_jointly
from safegym.gate.distill.joint import Certified, Joint
from safegym.gate.distill.net import Net
from safegym.gate.distill.taught import Taught
from safegym.gate.distill.teacher import Teacher
from safegym.gate.distill.teaching import distil_teachers
from safegym.gate.distill.tree_student import Tree
from safegym.gate.distill.viper import distil

__all__ = [
    "Certified",
    "Distilled",
    "Joint",
    "Net",
    "Taught",
    "Teacher",
    "Tree",
    "certify_jointly",
    "distil",
    "distil_teachers",
    "grow",
]
