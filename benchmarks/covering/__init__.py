"""Monte Carlo through recorder, campaign, monitor and tally, many chains to an episode."""
