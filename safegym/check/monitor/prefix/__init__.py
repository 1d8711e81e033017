"""The online monitor that evaluates the open part of the prefix afresh at each sample."""
