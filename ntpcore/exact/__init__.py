"""Exact max-margin solutions with certificates, and the largest realizable part of a data set."""
