"""The first two pages of a report: what an approver reads and signs. Internal."""
