"""Names in a run folder. Any other file is an artifact that a record names, or not covered."""

LOG = "log.jsonl"
CHECKPOINTS = "checkpoints.txt"
PUBLIC_KEY = "public.pem"
LOCK = ".lock"
TRACES = "traces"
POLICIES = "policies"
CLAIMS = "claims.json"
PLAN = "plan.json"
REPORT = "report.html"

OWN = (LOG, CHECKPOINTS, PUBLIC_KEY)
"""Files that the log itself consists of."""
