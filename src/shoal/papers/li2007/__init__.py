"""Li, Li, Venkatasubramanian 2007: the worked examples of the slides on t-closeness."""
