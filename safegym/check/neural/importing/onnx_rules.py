"""The rule of each ONNX operator that is read."""

from safegym.check.neural.importing import onnx_moves as moves
from safegym.check.neural.importing import onnx_work as work
from safegym.check.neural.importing.onnx_call import Rule

RULES: dict[str, Rule] = {
    "Abs": work.elementwise("abs"),
    "Add": work.sum_or_difference(1.0),
    "BatchNormalization": work.batch_norm,
    "Cast": work.cast,
    "Clip": work.clip,
    "Concat": moves.concat,
    "Constant": moves.given,
    "Div": work.divided,
    "Dropout": moves.dropout,
    "Flatten": moves.flatten,
    "Gather": moves.gather,
    "Gemm": work.gemm,
    "Identity": moves.same,
    "LeakyRelu": work.leaky_relu,
    "MatMul": work.matrix_product,
    "Max": work.extremum("max"),
    "Min": work.extremum("min"),
    "Mul": work.times,
    "Neg": work.negated,
    "Relu": work.elementwise("relu"),
    "Reshape": moves.reshape,
    "Shape": moves.shape_of,
    "Sigmoid": work.elementwise("sigmoid"),
    "Slice": moves.sliced,
    "Split": moves.split,
    "Squeeze": moves.squeeze,
    "Sub": work.sum_or_difference(-1.0),
    "Tanh": work.elementwise("tanh"),
    "Transpose": moves.transpose,
    "Unsqueeze": moves.unsqueeze,
}
