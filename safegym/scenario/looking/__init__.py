"""Looking at scenarios: films of episodes, drawn without a display, and a gallery of them."""
