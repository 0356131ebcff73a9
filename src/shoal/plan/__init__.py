"""What was asked for: a Plan, to and from TOML. Internal, but for `Plan`."""

from shoal.plan.plan import Plan

__all__ = ["Plan"]
