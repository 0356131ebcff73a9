"""Mauger, Le Mahec, Dequen 2020: seven metrics guide the merge of Adult, figures 6 to 13."""
