"""What others conclude from the same chains: pydsmc, and Clopper-Pearson read in two ways."""
