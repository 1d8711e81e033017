"""Policies and networks from elsewhere as graphs, compared with what they do; ONNX in and out."""

from safegym.check.neural.importing.entry import onnx_graph, policy_graph, write_onnx

__all__ = ["onnx_graph", "policy_graph", "write_onnx"]
