"""Bags: what an adapter says about its harness's tools, hooks, traits and bounds, as data."""
