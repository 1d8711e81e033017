"""Box2D and what Gymnasium makes of it, imported without the warnings of their generated code.

SWIG's types warn on import that they name no module; where warnings are errors, that ends Python.
"""

import warnings

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import Box2D  # type: ignore[import-untyped] # it has no stubs
    from gymnasium.envs.box2d import bipedal_walker, car_racing, lunar_lander

__all__ = ["Box2D", "bipedal_walker", "car_racing", "lunar_lander"]
