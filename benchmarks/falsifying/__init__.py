"""Problems, single methods and rivals for `falsification.py`."""
