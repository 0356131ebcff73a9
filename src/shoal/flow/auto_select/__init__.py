"""Chooses what a plan leaves open, algorithm or loss, by trying the candidates. Internal.

Mauger et al. end by asking for a procedure that finds, from the table and its hierarchies, the
metric and the strategy that suit them best (Sec. 5, Mauger 2023). This one tries them. The default
of the plan runs on the whole table, however long that takes, and nothing that loses more is ever
returned. Every algorithm that supports the plan runs on a sample of people, guided by one loss; the
best of them run again, guided by all losses; and the best of those run on the whole table. Columns
without a hierarchy are also tried as free ranges and sets. The result with the lowest loss is
chosen: by the mean of the seven metrics (Def. 9) if the loss is open too, otherwise by the plan's
loss.

Estimates of work decide how much is tried in addition to the default. They are the same on every
machine, so a seed gives the same choice everywhere, however busy the machine is. The clock is only
an emergency brake for runs that take many times their estimate. It allows for a slow machine: its
limit grows with the time that the default took here. A note reports what it stopped.
"""
