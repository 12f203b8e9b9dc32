"""What every HTTP service shares: the server, routing, requests and answers, errors, limits and metrics."""
