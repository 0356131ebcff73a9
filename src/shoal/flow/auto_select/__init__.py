"""What a plan leaves open is chosen here, by trying what is promising. Internal.

Mauger et al. end by asking for a procedure that finds, from the table and its hierarchies, the
metric and the strategy that suit them best (Sec. 5, Mauger 2023). This one tries them. What the
plan would run by default runs on the whole table, however long that takes, and nothing that loses
more is ever returned. Every algorithm that serves the plan runs on a sample of people, guided by
one loss; the best of them guided by all losses; and the best of those on the whole table. Columns
without a hierarchy are tried as free ranges and sets as well. What loses least is chosen: by the
mean of the seven metrics (Def. 9) where the loss is open too, else by the plan's loss.

How much is tried besides the default follows from estimates of work, which are the same on every
machine: so a seed gives the same choice everywhere, however busy the machine is. The clock is an
emergency brake, for a run that takes many times its estimate; it goes as slowly as the default
did here, and where it ended something a note says so.
"""
