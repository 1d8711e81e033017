"""What our own MuJoCo scenes share: looks, faults and pushes, the environment, the spec."""
