"""Columns of surveys: the weight of each record, and the household of each person."""
