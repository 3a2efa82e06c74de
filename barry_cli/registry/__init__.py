"""The registry: installed adapters, their programs, and what can be said of both."""
