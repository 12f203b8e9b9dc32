"""How long the tests of whole servers wait, at most: each starts Spark, some of them several times, and a busy machine takes its time."""

RESULTS_S = 600.0
"""For results to come after a disaster."""
TEST_S = 900
"""For one test."""
