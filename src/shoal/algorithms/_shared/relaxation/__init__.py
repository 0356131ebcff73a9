"""The linear relaxation of the best k-anonymous release. Internal."""
