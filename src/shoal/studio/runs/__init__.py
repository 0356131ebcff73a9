"""Runs: releases that were made of a table, kept side by side. Internal."""
